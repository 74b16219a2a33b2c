import PushStore

/// The weight of a page's responses as evidence.
///
/// Devices that were added long ago stand for the app's population. What was added lately, was called bad before, or is
/// not registered may all come from one caller of the API: however many they are, they prove nothing about the others.
struct TokenEvidence: Hashable, Sendable {
    /// A device that was added before this time stands for the population: a week.
    static let age: Duration = .seconds(7 * 86_400)

    var established = CircuitBreaker.Answers()
    var others = CircuitBreaker.Answers()

    /// - Parameter firstNew: the first device that was added lately.
    static func isEstablished(_ recipient: Recipient, firstNew: Int64) -> Bool {
        guard let device = recipient.device else { return false }
        return device < firstNew && !recipient.isSuspected
    }

    mutating func add(_ answers: CircuitBreaker.Answers, isEstablished: Bool) {
        if isEstablished { self.established.add(answers) } else { self.others.add(answers) }
    }

    var accepted: Int { self.established.accepted + self.others.accepted }
}
