import AppSimulator
import PushTesting

extension PhoneCommand {
    /// The same command; one that waits as long as usual has the time that a busy machine needs.
    var patient: PhoneCommand {
        guard case .wait(let name, let count, let seconds) = self, seconds >= Self.defaultWait else { return self }
        return .wait(name, count: count, seconds: Int(Duration.patience.components.seconds))
    }
}

extension LibraryCommand {
    /// The same command; one that waits as long as usual has the time that a busy machine needs.
    var patient: LibraryCommand {
        guard case .wait(let name, let count, let seconds) = self, seconds >= PhoneCommand.defaultWait else {
            return self
        }
        return .wait(name, count: count, seconds: Int(Duration.patience.components.seconds))
    }
}
