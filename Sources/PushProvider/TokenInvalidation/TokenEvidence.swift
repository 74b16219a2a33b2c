import PushStore

/// The weight of a page's responses as evidence.
///
/// Devices that were added long ago represent the app's population. Devices that were added lately, tokens that were called
/// bad before and tokens that are not registered may all come from one caller of the API: however many they are, they prove
/// nothing about the others.
struct TokenEvidence: Hashable, Sendable {
    /// The age from which a device represents the population: a week.
    static let age: Duration = .seconds(7 * 86_400)

    var established = CircuitBreaker.Counts()
    var others = CircuitBreaker.Counts()

    /// Decides whether a recipient represents the population.
    /// - Parameter firstNew: the id of the first device that was added lately.
    static func isEstablished(_ recipient: Recipient, firstNew: Int64) -> Bool {
        guard let device = recipient.device else { return false }
        return device < firstNew && !recipient.isSuspected
    }

    mutating func add(_ counts: CircuitBreaker.Counts, isEstablished: Bool) {
        if isEstablished { self.established.add(counts) } else { self.others.add(counts) }
    }

    var accepted: Int { self.established.accepted + self.others.accepted }
}
