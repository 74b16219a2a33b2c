package import PushTypes

/// The rules by which the gateway accepts or rejects requests of providers (docs/decisions/0011).
///
/// ``strict`` has the documented or observed behaviour of Apple. ``lenient``, the default, also accepts the requests of
/// existing clients. Every rule can be set separately.
package struct ProviderRules: Hashable, Sendable {
    /// A rate limit that allows bursts, such as that of a token bucket.
    package struct Rate: Hashable, Sendable {
        /// The number of requests that are allowed in each ``window``.
        package var requests: Int
        package var window: Duration
        /// The maximum number of requests in one burst, which is the capacity of a token bucket.
        package var burst: Int

        /// Creates a rate.
        /// - Parameter burst: The capacity of the bucket, or `nil` for the same as `requests`.
        package init(requests: Int, window: Duration, burst: Int? = nil) {
            (self.requests, self.window) = (requests, window)
            self.burst = burst ?? requests
        }
    }

    /// The maximum number of concurrent streams of a connection without a certificate until its first accepted request.
    /// Apple allows 1 (reference 1.3). Clients that do not wait for SETTINGS need 1,000 (7.10 row 6). Default 1,000.
    package var firstStreamLimit = 1000
    /// The maximum number of concurrent streams after the first accepted request. For a connection with a certificate
    /// it applies from the start. Default 1,000.
    package var streamLimit = 1000
    /// The minimum time between two changes of the provider token on a connection. An earlier change is rejected with
    /// 429 (reference 2.1). The first token of a connection is not a change. Default `nil`: no minimum.
    package var tokenUpdateInterval: Duration?
    /// A Boolean value that indicates whether a push that only wakes the app is rejected with `BadPriority` if it
    /// requests priority 10. Otherwise it has priority 5. A request without a priority always passes (reference 7.5;
    /// 11, row 2).
    package var refusesImmediateBackground = false
    /// A Boolean value that indicates whether a payload that is not a JSON object is rejected with `BadRequestPayload`.
    /// Otherwise it is delivered (reference 11, row 1).
    package var requiresJSONObject = false
    /// A Boolean value that indicates whether a topic without the push type's suffix is rejected with `TopicDisallowed`
    /// (reference 7.7).
    package var requiresMatchingSuffix = false
    /// The accepted algorithms of provider tokens. A token with any other algorithm is rejected with
    /// `InvalidProviderToken`. Apple documents ES256 only (reference 2.1).
    var tokenAlgorithms: Set<ProviderTokenAlgorithm> = [.es256, .es512]
    /// The push types that are rejected with `TopicDisallowed` on connections with a certificate (reference 1.6).
    package var tokenOnlyTypes: Set<PushType> = []
    /// A Boolean value that indicates whether payloads of the legacy commands 0 and 1 are limited to 256 bytes
    /// (reference 5.1). Otherwise the limit is 2,048 bytes, as for command 2.
    package var refusesLongSimplePayloads = false
    /// The maximum rate of accepted pushes per device token. Further pushes are rejected with `TooManyRequests`
    /// (reference 7.8). Default `nil`: no limit.
    package var deviceRate: Rate?
    /// The number of consecutive rejections after which a connection may have only one stream at a time, until a
    /// request is accepted (reference 1.3). Default `nil`: the number of streams is never reduced.
    package var refusalsBeforeSlowdown: Int?
    /// The number of consecutive rejections after which the connection is closed (reference 7.8). Default `nil`: never.
    package var refusalsBeforeEnd: Int?
    /// The number of rejections for which one `BadDeviceToken` counts in the two limits of rejections (reference 1.9).
    /// Default 5. A rejection with status 410 does not count.
    package var badDeviceTokenWeight = 5
    /// The time without requests after which the connection is closed with `IdleTimeout`. Default `nil`: no limit.
    package var idleTimeout: Duration?
    /// The value of `retry-after`, in seconds, in responses with status 429 and 503 (reference 11, row 4). Default
    /// `nil`: it is not sent.
    package var retryAfter: Int?
    /// The reason for rejecting a key of the other environment. Apple's servers send
    /// ``Reason/badEnvironmentKeyInToken``, but the documentation names ``Reason/badEnvironmentKeyIdInToken``
    /// (reference 1.9).
    package var wrongEnvironmentKey = Reason.badEnvironmentKeyInToken
    /// A Boolean value that indicates whether a new app may use broadcasts if its registration does not set it
    /// (reference 4.1).
    package var allowsBroadcastByDefault = true

    package init() {}

    package static let lenient = ProviderRules()

    /// Apple's rules. Martlet has chosen the numbers that Apple does not publish: rate, counts and idle time.
    package static let strict: ProviderRules = {
        var rules = ProviderRules()
        rules.firstStreamLimit = 1
        rules.tokenUpdateInterval = .seconds(20 * 60)
        rules.refusesImmediateBackground = true
        rules.requiresJSONObject = true
        rules.requiresMatchingSuffix = true
        rules.tokenAlgorithms = [.es256]
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

/// The algorithm that the header of a provider token names. With either algorithm, the key is a P-256 key.
enum ProviderTokenAlgorithm: String, Sendable {
    case es256 = "ES256"
    /// ECDSA with SHA-512 and a signature whose two numbers are padded to the 66 bytes of P-521, as the PHP library
    /// pushok sends it.
    case es512 = "ES512"
}
