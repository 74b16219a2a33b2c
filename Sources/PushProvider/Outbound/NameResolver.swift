/// Resolves host names.
package protocol NameResolver: Sendable {
    /// Returns the addresses of a name in order of preference. There is at least one.
    /// - Throws: ``NameResolutionFailure``, also if the look-up takes longer than `limit`.
    func addresses(of name: String, within limit: Duration) async throws -> [IPAddress]
    /// Returns the addresses of a name on behalf of an app. The number of look-ups is limited for each source of names
    /// of an app, so that no source takes all capacity.
    func addresses(
        of name: String,
        for app: Int64,
        givenBy source: HostNameSource,
        within limit: Duration
    ) async throws -> [IPAddress]
}

extension NameResolver {
    package func addresses(
        of name: String,
        for app: Int64,
        givenBy source: HostNameSource,
        within limit: Duration
    ) async throws -> [IPAddress] {
        try await self.addresses(of: name, within: limit)
    }
}

/// The source of a host name. The look-ups are limited separately for each source of an app, so that slow names from
/// one source do not delay the others.
package enum HostNameSource: String, Hashable, Sendable {
    /// A setting of an operator: the URL of a webhook, of a publisher's server, or of an old server.
    case settings
    /// A user of the app: the name of a chat server.
    case users
    /// Any client, with the app's public key or without a key: the endpoint of a browser or of a push server.
    case strangers
}

/// The reason why the addresses of a name are not known.
package enum NameResolutionFailure: Error, Hashable, Sendable, CustomStringConvertible {
    case unknown(reason: String)
    /// A look-up that exceeded the time limit.
    case tooSlow
    /// A look-up that was refused because too many look-ups of the app are waiting, or that started too late. It says
    /// nothing about the name.
    case busy

    package var description: String {
        switch self {
        case .unknown(let reason): "its name cannot be resolved: \(reason)"
        case .tooSlow: "its name could not be resolved in time"
        case .busy: "its name could not be resolved: too many names of its app wait for that"
        }
    }
}
