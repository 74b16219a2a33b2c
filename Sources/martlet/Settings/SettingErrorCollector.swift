import Configuration
import Synchronization

/// Collects the values that could not be read while settings are looked up.
final class SettingErrorCollector: AccessReporter {
    private let errors = Mutex<[String]>([])

    /// The errors so far, each with the key of its setting.
    var all: [String] { self.errors.withLock { $0 } }

    /// Adds the error of a value that was read but is not allowed.
    func add(_ error: String) {
        self.errors.withLock { $0.append(error) }
    }

    /// Notes a value that a provider has, but that is not of the type that was asked for.
    func report(_ event: AccessEvent) {
        var failed = event.conversionError != nil
        for result in event.providerResults {
            if case .failure = result.result { failed = true }
        }
        if case .failure = event.result { failed = true }
        if failed { self.add("\(event.metadata.key): not of type \(event.metadata.valueType)") }
    }
}
