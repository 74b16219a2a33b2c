import ProviderModel
import PushStore
import PushTypes

/// The device tokens that another system's request names, grouped by their registrations in the store.
///
/// Tokens that the push service has reported as invalid, and tokens of another kind, are refused before anything is
/// sent. Tokens without a registration are pushed to.
struct NamedTokens: Hashable, Sendable {
    struct Group: Hashable, Sendable {
        /// The environment, or `nil` to send to production first, and once to the sandbox for a token that belongs
        /// there.
        var environment: PushEnvironment?
        var tokens: [DeviceToken]
    }

    private(set) var groups: [Group] = []
    /// The tokens to which nothing is sent, each with the corresponding reason of the push service.
    private(set) var refused: [DeviceToken: Reason] = [:]

    /// Groups tokens by their registrations. A token without registrations is not refused.
    /// - Parameters:
    ///   - wanted: The kind of tokens that the push is for, or `nil` for any kind.
    ///   - environment: The environment that the request or the bridge names, or `nil` for the environment of each
    ///     device.
    init(
        _ tokens: [DeviceToken],
        registrations: [DeviceToken: [NamedTokenRegistration]],
        wanted: DeviceTokenKind?,
        environment: PushEnvironment?
    ) {
        var seen: Set<DeviceToken> = []
        var sorted: [PushEnvironment?: [DeviceToken]] = [:]
        for token in tokens where seen.insert(token).inserted {
            let all = registrations[token] ?? []
            let known = environment.map { named in all.filter { $0.environment == named } } ?? all
            let active = known.first { $0.isActive && $0.environment == .production } ?? known.first(where: \.isActive)
            if let active {
                guard wanted == nil || active.kind == wanted else {
                    self.refused[token] = .deviceTokenNotForTopic
                    continue
                }
                let isElsewhere = environment == nil && active.environment == .sandbox
                sorted[isElsewhere ? .sandbox : environment, default: []].append(token)
            } else if known.isEmpty {
                sorted[environment, default: []].append(token)
            } else {
                self.refused[token] = .unregistered
            }
        }
        for place in [nil, PushEnvironment.production, .sandbox] {
            var rest = (sorted[place] ?? [])[...]
            while !rest.isEmpty {
                let some = rest.prefix(NotificationRequest.maximumTokens)
                self.groups.append(Group(environment: place, tokens: Array(some)))
                rest = rest.dropFirst(some.count)
            }
        }
    }
}
