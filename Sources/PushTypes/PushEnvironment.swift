/// Which of the push service's two separate worlds a token, app or credential belongs to (reference 1.1).
public enum PushEnvironment: String, CaseIterable, Hashable, Sendable, Codable {
    /// Development builds, also called "development".
    case sandbox
    /// Distributed builds.
    case production
}
