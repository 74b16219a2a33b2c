package import Logging

extension Logger {
    /// This logger for an HTTP server: without messages below warning, as those of start and stop would repeat our own,
    /// and without those of a server that is cancelled.
    package var forHTTPServer: Logger {
        var logger = self
        logger.logLevel = max(self.logLevel, .warning)
        logger.handler = HTTPServerLogHandler(handler: logger.handler)
        return logger
    }
}

/// Passes on messages unless the task that logs them is cancelled.
///
/// A server that is cancelled because another service failed reports the cancellation as an error of its own, before
/// the error that ended the process.
private struct HTTPServerLogHandler: LogHandler {
    var handler: any LogHandler

    var logLevel: Logger.Level {
        get { self.handler.logLevel }
        set { self.handler.logLevel = newValue }
    }

    var metadata: Logger.Metadata {
        get { self.handler.metadata }
        set { self.handler.metadata = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.handler[metadataKey: key] }
        set { self.handler[metadataKey: key] = newValue }
    }

    func log(event: LogEvent) {
        guard !Task.isCancelled else { return }
        self.handler.log(event: event)
    }
}
