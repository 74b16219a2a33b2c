package import PushTypes

/// The addresses of the legacy services of one environment: binary protocol and feedback (reference 5, 6).
package struct LegacyService: Hashable, Sendable {
    /// The address of the binary protocol; `nil` without one.
    package var binary: PushServiceEndpoint?
    /// The address of the feedback service; `nil` without one.
    package var feedback: PushServiceEndpoint?

    package init(binary: PushServiceEndpoint? = nil, feedback: PushServiceEndpoint? = nil) {
        (self.binary, self.feedback) = (binary, feedback)
    }
}

/// The error for a credential whose pushes go over the binary protocol in an environment without an address for that.
package struct LegacyServiceMissing: Error, Hashable, CustomStringConvertible {
    package let environment: PushEnvironment

    package var description: String {
        let setting = "serve.legacy.\(self.environment.rawValue)Binary"
        return "the credential's transport is binary, and \(setting) names no binary push service"
    }
}
