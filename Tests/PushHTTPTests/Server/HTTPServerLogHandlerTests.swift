import Logging
import PushHTTP
import PushTesting
import Testing

@Suite struct HTTPServerLogHandlerTests {
    @Test func onlyWarningsAndErrorsOfAServerThatRunsAreLogged() async {
        let log = LeveledLog()
        let logger = log.logger.forHTTPServer
        logger.info("started")
        logger.warning("slow")
        logger.error("failed")
        let server = Task {
            try? await Task.sleep(for: .patience)
            logger.error("cancelled")
        }
        server.cancel()
        await server.value
        #expect(log.recorded.lines == ["slow", "failed"])
    }
}

/// A recorded log whose level can be changed.
private struct LeveledLog: LogHandler {
    let recorded = RecordedLog()
    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]

    var logger: Logger { Logger(label: "test") { _ in self } }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    func log(event: LogEvent) { self.recorded.log(event: event) }
}
