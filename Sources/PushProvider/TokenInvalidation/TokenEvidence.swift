import PushStore
import PushTypes

/// The responses of a page as evidence about the validity of an app's tokens.
///
/// Devices that were added long ago are representative of the app's devices, and are called established. Devices that
/// were added recently, tokens that were reported bad before and unregistered tokens may all come from one caller of
/// the API. However many they are, they prove nothing about other tokens.
struct TokenEvidence: Hashable, Sendable {
    /// The age from which a device is established: one week.
    static let age: Duration = .seconds(7 * 86_400)

    var established = CircuitBreaker.Counts()
    var others = CircuitBreaker.Counts()
    /// The unregistered tokens, named by requests without a credential, to which pushes were accepted. Each token
    /// counts once, regardless of the number of pushes.
    var reached: Set<DeviceToken> = []

    /// Returns whether a recipient is an established device.
    /// - Parameter firstNew: The lowest id of the devices that were added within ``age``.
    static func isEstablished(_ recipient: Recipient, firstNew: Int64) -> Bool {
        guard let device = recipient.device else { return false }
        return device < firstNew && !recipient.isSuspected
    }

    mutating func add(_ counts: CircuitBreaker.Counts, isEstablished: Bool) {
        if isEstablished { self.established.add(counts) } else { self.others.add(counts) }
    }

    var accepted: Int { self.established.accepted + self.others.accepted + self.reached.count }
}
