import ProviderModel
import PushStore
import PushTypes

/// The tokens that another system names, sorted by their registrations in the store.
///
/// Tokens that the push service has called invalid and tokens of another kind are refused before anything is sent.
/// Pushes are sent to tokens without a registration.
struct NamedTokens: Hashable, Sendable {
    /// The tokens that one notification is sent to.
    struct Group: Hashable, Sendable {
        /// The environment. `nil` is production, except that a token of the sandbox then has one attempt there.
        var environment: PushEnvironment?
        var tokens: [DeviceToken]
    }

    private(set) var groups: [Group] = []
    /// The tokens to which nothing is sent, with reasons of the push service.
    private(set) var refused: [DeviceToken: Reason] = [:]

    /// - Parameters:
    ///   - wanted: The kind of tokens to which the push is sent, or `nil` for any.
    ///   - environment: The environment that the request or the bridge names, or `nil` for that of each device.
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
