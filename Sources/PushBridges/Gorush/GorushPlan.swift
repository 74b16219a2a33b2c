import ProviderModel
import PushSupport
import PushTypes

/// The plan for one notification of a request: its content, its tokens, and the failures that are already known.
struct GorushPlan: Sendable {
    let notification: GorushNotification
    let app: AppRecord
    let bridge: String
    /// The content, or `nil` if the provider's checks reject it.
    private(set) var content: TranslatedPush.Checked?
    private(set) var groups: [NamedTokens.Group] = []
    private(set) var failures: [GorushLogEntry] = []
    /// The error with which the provider's checks reject the content, or `nil` if the content is valid.
    private(set) var refusal: RequestError?
    private let texts: [DeviceToken: String]

    /// Creates the plan for a notification.
    /// - Parameters:
    ///   - environment: The environment of the bridge, or `nil` for that of each device.
    ///   - sort: Groups tokens by their registrations in the store, for a kind of token and an environment.
    init(
        _ notification: GorushNotification,
        app: AppRecord,
        bridge: String,
        environment: PushEnvironment?,
        now: Timestamp,
        sort: ([DeviceToken], DeviceTokenKind?, PushEnvironment?) async throws -> NamedTokens
    ) async throws {
        (self.notification, self.app, self.bridge) = (notification, app, bridge)
        var texts: [DeviceToken: String] = [:]
        var tokens: [DeviceToken] = []
        var invalid: [String] = []
        var known: Set<String> = []
        for text in notification.tokens {
            guard let token = DeviceToken(userInput: text), token.bytes.count >= DeviceRequest.minimumToken else {
                if known.insert(text).inserted { invalid.append(text) }
                continue
            }
            guard texts[token] == nil else { continue }
            texts[token] = text
            tokens.append(token)
        }
        self.texts = texts
        self.failures += invalid.map { GorushLogEntry(notification, token: $0, error: Reason.badDeviceToken.text) }
        do throws(RequestError) {
            self.content = try notification.push(to: app.bundleID, now: now).checked(for: app.bundleID, now: now)
        } catch {
            self.refusal = error
            self.fail(tokens, GorushFailure.text(error))
            return
        }
        let sorted = try await sort(tokens, self.content?.content.tokenKind, notification.environment ?? environment)
        self.groups = sorted.groups
        for token in tokens {
            guard let reason = sorted.refused[token] else { continue }
            self.fail([token], reason.text)
        }
    }

    /// Returns the notification request for a group of tokens, or `nil` if the provider's checks reject the content.
    func request(_ group: NamedTokens.Group) -> NotificationRequest? {
        self.content?.request(to: .tokens(group.tokens), environment: group.environment)
    }

    mutating func fail(_ tokens: [DeviceToken], _ error: String) {
        for token in tokens { self.failures.append(self.entry(token, error)) }
    }

    func entry(_ token: DeviceToken, _ error: String) -> GorushLogEntry {
        GorushLogEntry(self.notification, token: self.texts[token] ?? token.hex, error: error)
    }
}
