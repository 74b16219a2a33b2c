/// One of the push service's two environments, which share no tokens and no credentials' rights (reference 1.1).
public enum PushEnvironment: String, CaseIterable, Hashable, Sendable, Codable {
    /// The environment of development builds, also called "development".
    case sandbox
    /// The environment of builds from TestFlight, the App Store and enterprises.
    case production

    /// The one of the two that this is not.
    package var other: PushEnvironment {
        switch self {
        case .production: .sandbox
        case .sandbox: .production
        }
    }
}
