package import Logging
import Synchronization

/// A log that a test reads: the message of each line, with its metadata in alphabetical order, such as `ended reason=x`.
package final class RecordedLog: LogHandler {
    private let state = Mutex<[String]>([])
    private let level: Logger.Level

    package init(level: Logger.Level = .trace) {
        self.level = level
    }

    /// The lines so far.
    package var lines: [String] { self.state.withLock { $0 } }

    /// A logger that writes to this log.
    package var logger: Logger { Logger(label: "test") { _ in self } }

    package var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }

    package var logLevel: Logger.Level {
        get { self.level }
        set {}
    }

    package subscript(metadataKey _: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }

    package func log(event: LogEvent) {
        let fields = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
        self.state.withLock { $0.append("\(event.message)" + fields.joined()) }
    }
}
