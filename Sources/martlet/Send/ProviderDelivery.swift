import ArgumentParser
import Foundation
import PushSupport

/// The settings of `martlet send`.
enum SendSettings {
    static let server = Setting("send.server", flag: "server", default: APISettings.server.defaultText)
        .help("The provider")
        .detail("`api.server` counts where this is absent.")
    static let apiKey = Setting("send.apiKey", flag: "api-key", kind: .secret)
        .help("API key with the scope send; better given as MARTLET_SEND_API_KEY")
        .detail("Flags are seen in process lists. `api.key` counts where this is absent.")
    static let passphrase = Setting("send.passphrase", flag: "passphrase", kind: .secret)
        .help("Passphrase of the credential; better given as MARTLET_SEND_PASSPHRASE")
    static let proxy = Setting("send.proxy", flag: "proxy", kind: .secret)
        .help("http://[USER:PASSWORD@]HOST:PORT, a proxy that gives tunnels")

    /// The settings for sending through a provider.
    enum Provider: SettingSection {
        static let settings = [server, apiKey]
    }

    /// The settings for sending straight to a push service.
    enum Direct: SettingSection {
        static let settings = [passphrase, proxy]
    }
}

/// The options for sending through a running provider.
struct ProviderDeliveryOptions: ParsableArguments {
    @OptionGroup var flags: SettingFlags<SendSettings.Provider>
    @Option(help: "Repeat it to send the same notification only once; default: a new one for each call.")
    var idempotencyKey: String?
    @Flag(help: "Wait until every device has its outcome.") var wait = false
    @Option(help: "The most seconds to wait.") var waitSeconds: Int = 60

    /// Indicates whether any option was given that makes sense with a provider only.
    var isGiven: Bool { self.flags.has(SendSettings.server) || self.wait || self.idempotencyKey != nil }

    /// Sends a notification and prints the response.
    /// - Returns: Whether all pushes were accepted, as far as the command waits for it.
    func send(_ content: ContentOptions, to target: TargetOptions, app: String, settings: SettingsReader) async throws
        -> Bool
    {
        let keys = [SendSettings.apiKey, APISettings.key]
        let client = try APISettings.client(settings, [SendSettings.server, APISettings.server], keys: keys)
        guard client.apiKey != nil else {
            throw ValidationError("Give an API key: set MARTLET_SEND_API_KEY or MARTLET_API_KEY.")
        }
        let request = APIRequest.post("apps", app, "notifications")
            .body(try content.members().merging(["to": target.json]) { $1 })
        var response = try await client.send(request.idempotencyKey(self.idempotencyKey))
        var allAccepted = true
        if self.wait, let id = response["id"].stringValue {
            response = try await client.end(ofNotification: id, within: .seconds(self.waitSeconds))
            allAccepted = response.isDoneAndAccepted
        }
        StandardOutput.line(try response.indented)
        return allAccepted
    }
}

extension APIClient {
    /// The time between two looks at a notification that is waited for.
    static let pollInterval: Duration = .milliseconds(100)

    /// Waits until every recipient of a notification has a final state, or the notification is cancelled.
    /// - Returns: The notification at its end.
    /// - Throws: ``SettingsError`` when the time is up.
    func end(ofNotification id: String, within limit: Duration) async throws -> JSONValue {
        let deadline = ContinuousClock.now + limit
        while true {
            let notification = try await self.send(.get("notifications", id))
            if notification.hasEnded { return notification }
            if ContinuousClock.now > deadline {
                throw SettingsError("notification \(id) was not done within \(limit); the provider continues with it")
            }
            try await Task.sleep(for: Self.pollInterval)
        }
    }
}
