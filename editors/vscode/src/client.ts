// The language client, which lives as long as the settings stay the same.
import * as vscode from 'vscode';
import { LanguageClient, LanguageClientOptions, ServerOptions } from 'vscode-languageclient/node';

import { programPath, schemaWords, settings, tellMissing } from './program';

export class Client implements vscode.Disposable {
  private client: LanguageClient | undefined;
  // Starts and stops follow each other, whoever asks.
  private last: Promise<void> = Promise.resolve();

  start(): Promise<void> {
    return this.queue(() => this.startNow());
  }

  restart(): Promise<void> {
    return this.queue(async () => {
      await this.stopNow();
      await this.startNow();
    });
  }

  dispose(): Promise<void> {
    return this.queue(() => this.stopNow());
  }

  private queue(action: () => Promise<void>): Promise<void> {
    this.last = this.last.then(action, action);
    return this.last;
  }

  private async startNow(): Promise<void> {
    const server: ServerOptions = { command: programPath(), args: ['lsp', ...schemaWords()] };
    const options: LanguageClientOptions = {
      documentSelector: [
        { language: 'python', scheme: 'file' },
        { language: 'python', scheme: 'untitled' },
      ],
      middleware: {
        provideInlayHints: (document, range, token, next) =>
          settings(document.uri).get<boolean>('inlayHints') === false ? [] : next(document, range, token),
      },
    };
    this.client = new LanguageClient('sardonyx', 'Sardonyx', server, options);
    try {
      await this.client.start();
    } catch (error) {
      this.client = undefined;
      void tellMissing(error instanceof Error ? error.message : String(error));
    }
  }

  private async stopNow(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    await client?.dispose();
  }
}
