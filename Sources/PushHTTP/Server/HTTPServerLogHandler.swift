package import Logging

extension Logger {
    /// This logger for an HTTP server: without messages below warning, as those of start and stop would repeat our own,
    /// and without those of a server that is cancelled.
    ///
    /// A server that is cancelled because another service failed reports the cancellation as an error of its own, before
    /// the error that ended the process.
    package var forHTTPServer: Logger {
        var logger = self
        logger.logLevel = max(self.logLevel, .warning)
        logger.handler = FilteringLogHandler(logger.handler) { _ in !Task.isCancelled }
        return logger
    }
}
