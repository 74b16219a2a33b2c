import Configuration
import Synchronization

/// Collects what could not be read while settings are looked up.
final class SettingFaults: AccessReporter {
    private let faults = Mutex<[String]>([])

    var all: [String] { self.faults.withLock { $0 } }

    func add(_ fault: String) {
        self.faults.withLock { $0.append(fault) }
    }

    func report(_ event: AccessEvent) {
        var failed = event.conversionError != nil
        for result in event.providerResults {
            if case .failure = result.result { failed = true }
        }
        if case .failure = event.result { failed = true }
        if failed { self.add("\(event.metadata.key): not of type \(event.metadata.valueType)") }
    }
}
