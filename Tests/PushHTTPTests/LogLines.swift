import Logging
import Synchronization

/// The lines of a logger, with their metadata.
final class LogLines: LogHandler {
    let lines = Mutex<[String]>([])
    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }
    var logLevel: Logger.Level {
        get { .trace }
        set {}
    }

    subscript(metadataKey _: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }

    func log(event: LogEvent) {
        self.lines.withLock { $0.append("\(event.message) \(event.metadata ?? [:])") }
    }
}
