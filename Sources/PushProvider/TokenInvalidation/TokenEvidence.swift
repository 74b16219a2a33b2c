import PushStore
import PushTypes

/// The weight of a page's responses as evidence.
///
/// Devices that were added long ago are representative of the app's devices, and are called established. Devices that were
/// added lately, tokens that were called bad before and tokens that are not registered may all come from one caller of the
/// API. However many they are, they prove nothing about other tokens.
struct TokenEvidence: Hashable, Sendable {
    /// The age from which a device is established: a week.
    static let age: Duration = .seconds(7 * 86_400)

    var established = CircuitBreaker.Counts()
    var others = CircuitBreaker.Counts()
    /// The unregistered tokens, named by requests without a credential, to which pushes were accepted. Each counts once,
    /// however many pushes it gets.
    var reached: Set<DeviceToken> = []

    /// Decides whether a recipient is established.
    /// - Parameter firstNew: The id of the first device that was added lately.
    static func isEstablished(_ recipient: Recipient, firstNew: Int64) -> Bool {
        guard let device = recipient.device else { return false }
        return device < firstNew && !recipient.isSuspected
    }

    mutating func add(_ counts: CircuitBreaker.Counts, isEstablished: Bool) {
        if isEstablished { self.established.add(counts) } else { self.others.add(counts) }
    }

    var accepted: Int { self.established.accepted + self.others.accepted + self.reached.count }
}
