import PushTypes

/// Decides when the end of a certificate is announced: once at each stage.
package enum CertificateExpiryStage {
    /// The days that are left at most at the first stage, from which the end of a certificate is trouble.
    package static let first: Int64 = 30
    /// The numbers of days that are left at most; 0 for a certificate that has expired.
    static let all = [Int(first), 14, 7, 1, 0]

    /// Returns the stage that a certificate has reached; `nil` while more than 30 days are left.
    static func reached(_ expires: Timestamp, now: Timestamp) -> Int? {
        let left = expires.since(now)
        return Self.all.last { left <= .seconds(Int64($0) * 86_400) }
    }

    /// Returns the stage that is to be announced now; `nil` for none.
    /// - Parameter announced: The stage that was announced last.
    static func due(_ expires: Timestamp, announced: Int?, now: Timestamp) -> Int? {
        guard let stage = Self.reached(expires, now: now), stage < announced ?? .max else { return nil }
        return stage
    }
}
