import Logging

/// Passes on the lines that a filter lets through, which may change them.
struct FilteringLogHandler: LogHandler {
    private var base: any LogHandler
    private let filter: @Sendable (inout LogEvent) -> Bool

    /// - Parameter filter: Returns `false` for a line that is left out.
    init(_ base: any LogHandler, filter: @escaping @Sendable (inout LogEvent) -> Bool) {
        (self.base, self.filter) = (base, filter)
    }

    var logLevel: Logger.Level {
        get { self.base.logLevel }
        set { self.base.logLevel = newValue }
    }

    var metadata: Logger.Metadata {
        get { self.base.metadata }
        set { self.base.metadata = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.base[metadataKey: key] }
        set { self.base[metadataKey: key] = newValue }
    }

    func log(event: LogEvent) {
        var event = event
        if self.filter(&event) { self.base.log(event: event) }
    }
}
