import PushTypes

/// The requests, messages and connections to which a fault applies, and how often. A property that is `nil` matches
/// all.
struct FaultMatch: Hashable, Sendable {
    /// The fewest hexadecimal digits that name a token.
    static let shortestToken = 8

    /// The topic; a bundle id also matches the topics that are derived from it.
    var topic: Topic?
    /// The token in lower-case hexadecimal, or its beginning.
    var token: String?
    /// The key id or certificate serial number, compared without regard to letter case.
    var credential: String?
    var environment: PushEnvironment?
    var listener: FaultListener?
    /// The share of the matching subjects, at random: 0 to 100.
    var percent: Double = 100
    /// The number of the first matching subjects to which it is restricted.
    var first: Int?
    /// The distance between matching subjects to which it applies: 3 for each third.
    var every: Int?
    /// The most times that it applies.
    var times: Int?
    /// The time from which it does not apply any more.
    var until: Timestamp?

    /// Returns whether `subject` matches, apart from chance and counts.
    func matches(_ subject: FaultSubject) -> Bool {
        if let listener, listener != subject.listener { return false }
        if let environment, environment != subject.environment { return false }
        if let topic, topic != subject.topic, topic != subject.topic?.bundleID { return false }
        if let token, subject.token?.hex.hasPrefix(token) != true { return false }
        if let credential, subject.credential?.lowercased() != credential.lowercased() { return false }
        return true
    }

    /// Returns whether the fault applies to a matching subject.
    /// - Parameters:
    ///   - seen: The number of the subject among those that match, from 1.
    ///   - hits: The times that the fault has applied before.
    func applies(seen: Int, hits: Int, random: inout some RandomNumberGenerator) -> Bool {
        if let first, seen > first { return false }
        if let every, !seen.isMultiple(of: every) { return false }
        if let times, hits >= times { return false }
        return self.percent >= 100 || Double.random(in: 0..<100, using: &random) < self.percent
    }
}
