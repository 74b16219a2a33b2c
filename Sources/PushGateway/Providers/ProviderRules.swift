package import PushTypes

/// How exactly a provider has to keep the rules (docs/decisions/0011).
///
/// What Apple documents or was seen to do is ``strict``; what clients in the wild need is ``lenient``, the default. Every
/// switch can be set for itself.
package struct ProviderRules: Hashable, Sendable {
    /// A bucket of so many requests, which fills again by so many in so much time.
    package struct Rate: Hashable, Sendable {
        package var requests: Int
        package var window: Duration
        /// The capacity of the bucket.
        package var burst: Int

        /// - Parameter burst: by default as many as come back in a window.
        package init(requests: Int, window: Duration, burst: Int? = nil) {
            self.requests = requests
            self.window = window
            self.burst = burst ?? requests
        }
    }

    /// Concurrent streams from the start, where there is no certificate; 1 until the first accepted request is what Apple
    /// does (reference 1.3), 1000 is what clients need that do not wait for SETTINGS (7.10 row 6).
    package var firstStreamLimit = 1000
    /// Concurrent streams from the first accepted request on; with a certificate, from the start.
    package var streamLimit = 1000
    /// The shortest time between two changes of the provider token on a connection, else 429 (reference 2.1). The token
    /// that opened the connection is no change. Default: none.
    package var tokenUpdateInterval: Duration?
    /// Asking for priority 10 for a push that only wakes the app is `BadPriority`; otherwise it counts as 5 (reference
    /// 7.5, row 12.2). A priority that nobody asked for is never a fault.
    package var refusesImmediateBackground = false
    /// A payload that is no JSON object is `BadRequestPayload`; otherwise it is delivered (row 12.1).
    package var requiresJSONObject = false
    /// A push type whose topic has another suffix, or none, is `TopicDisallowed` (reference 7.7).
    package var requiresMatchingSuffix = false
    /// `TopicDisallowed` on certificate connections (reference 1.6).
    package var tokenOnlyTypes: Set<PushType> = []
    /// A payload over 256 bytes by the legacy commands 0 and 1 is an invalid payload size; otherwise 2,048 bytes are taken,
    /// as by command 2 (reference 5.1).
    package var refusesLongSimplePayloads = false
    /// Accepted pushes per device token; more are `TooManyRequests` (reference 7.8). Default: no limit.
    package var deviceRate: Rate?
    /// After so many refusals in a row the stream limit is 1, until a request is accepted (reference 1.3). Default: never.
    package var refusalsBeforeSlowdown: Int?
    /// After so many refusals in a row the connection ends (reference 7.8). Default: never.
    package var refusalsBeforeEnd: Int?
    /// As how many refusals a `BadDeviceToken` counts. 410 is none (reference 1.9).
    package var badDeviceTokenWeight = 5
    /// Without requests for so long, the connection ends with `IdleTimeout`. Default: never.
    package var idleTimeout: Duration?
    /// Seconds, header `retry-after` of answers 429 and 503 (row 12.4). Default: not sent.
    package var retryAfter: Int?
    /// Live servers send ``Reason/badEnvironmentKeyInToken``, the documentation has ``Reason/badEnvironmentKeyIdInToken``
    /// (reference 1.9).
    package var wrongEnvironmentKey = Reason.badEnvironmentKeyInToken
    /// Whether a new app may use broadcasts if its registration does not say (reference 4.1).
    package var allowsBroadcastByDefault = true

    package init() {}

    package static let lenient = ProviderRules()

    /// The figures that Apple does not publish (rate, counts, idle time) are ours.
    package static let strict: ProviderRules = {
        var rules = ProviderRules()
        rules.firstStreamLimit = 1
        rules.tokenUpdateInterval = .seconds(20 * 60)
        rules.refusesImmediateBackground = true
        rules.requiresJSONObject = true
        rules.requiresMatchingSuffix = true
        rules.tokenOnlyTypes = [.controls, .fileprovider, .location, .pushtotalk, .widgets]
        rules.refusesLongSimplePayloads = true
        rules.deviceRate = Rate(requests: 600, window: .seconds(60), burst: 1000)
        rules.refusalsBeforeSlowdown = 1
        rules.refusalsBeforeEnd = 100
        rules.idleTimeout = .seconds(3600)
        rules.allowsBroadcastByDefault = false
        return rules
    }()
}
