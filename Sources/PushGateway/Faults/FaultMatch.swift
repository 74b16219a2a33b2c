import PushTypes

/// Whom a fault meets, and how often. What is `nil` matches everybody.
struct FaultMatch: Hashable, Sendable {
    /// Fewest hexadecimal digits of a token that name it.
    static let shortestToken = 8

    /// A topic; a bundle id also means the topics that are derived from it.
    var topic: Topic?
    /// The token in lower-case hexadecimal, or its beginning.
    var token: String?
    /// Key id or certificate serial, letter case aside.
    var credential: String?
    var environment: PushEnvironment?
    var door: FaultListener?
    /// Of those that match, by chance. 0 to 100.
    var percent: Double = 100
    /// Only the first so many of those that match.
    var first: Int?
    /// Only each so-manieth of those that match.
    var every: Int?
    /// So many times at most.
    var times: Int?
    /// Not from this moment on.
    var until: Timestamp?

    /// Whether it is about `subject`, chance and counts aside.
    func covers(_ subject: FaultSubject) -> Bool {
        if let door, door != subject.door { return false }
        if let environment, environment != subject.environment { return false }
        if let topic, topic != subject.topic, topic != subject.topic?.bundleID { return false }
        if let token, subject.token?.hex.hasPrefix(token) != true { return false }
        if let credential, subject.credential?.lowercased() != credential.lowercased() { return false }
        return true
    }

    /// Whether it strikes the one that it covers as number `seen`, counted from 1, having struck `hits` before.
    func strikes(seen: Int, hits: Int, random: inout some RandomNumberGenerator) -> Bool {
        if let first, seen > first { return false }
        if let every, !seen.isMultiple(of: every) { return false }
        if let times, hits >= times { return false }
        return self.percent >= 100 || Double.random(in: 0..<100, using: &random) < self.percent
    }
}
