import ArgumentParser
import Foundation
import PushSupport

/// The options of a notification that a provider sends.
struct ProviderSendOptions: ParsableArguments {
    /// The time that `--wait` takes by default, in seconds.
    private static let standardWait = 60

    @Option(help: "Repeat it to send the same notification only once. Default: a new one for each call.")
    var idempotencyKey: String?
    @Flag(help: "Wait until every recipient has its outcome. The key needs the scope read for that.") var wait = false
    @Option(help: "The most seconds to wait.") var waitSeconds = Self.standardWait

    /// Indicates whether any of these options was given.
    var isGiven: Bool { self.wait || self.waitSeconds != Self.standardWait || self.idempotencyKey != nil }

    func validate() throws {
        guard (1...86_400).contains(self.waitSeconds) else {
            throw ValidationError("--wait-seconds is 1 to 86400.")
        }
    }
}

/// Sends one notification through a provider, and perhaps follows it to its end.
struct ProviderSend {
    /// The number of tries of a request whose response is lost.
    private static let tries = 3

    private let connection: APIConnection
    private let options: ProviderSendOptions
    private let path: String
    private let json: Bool

    /// - Parameter path: The part of the app's path that is posted to.
    init(
        _ connection: APIConnection,
        _ options: ProviderSendOptions,
        path: String = ProviderNotification.path,
        json: Bool
    ) {
        (self.connection, self.options, self.path, self.json) = (connection, options, path, json)
    }

    /// Sends the notification and prints its id, then waits for its end if the options ask for that.
    func send(_ body: [String: JSONValue?]) async throws -> ExitStatus {
        // A notification that cannot be followed must not be sent: the caller would send it again.
        if self.options.wait { try await self.checkScopes() }
        let accepted = try await self.post(body)
        PreviewText.warn(accepted)
        guard let id = accepted["id"].stringValue else { throw self.connection.client.notAnAPI }
        guard self.options.wait else {
            StandardOutput.line(self.json ? try accepted.line : id.printable)
            return accepted.reachesNobody ? .nobodyReached : .done
        }
        if self.json { StandardError.line("notification \(id.printable)") } else { StandardOutput.line(id.printable) }
        let end = try await self.follow(id)
        StandardOutput.line(self.json ? try end.line : NotificationProgressText.of(end))
        return end.exitStatus
    }

    /// Checks that the key may read the notification that it sends.
    private func checkScopes() async throws {
        let key = try await self.connection.client.send(.get("key"))
        let scopes = key["scopes"].elements.compactMap(\.stringValue)
        guard !scopes.contains("admin"), !scopes.contains("read") else { return }
        let name = key["name"].stringValue?.printable ?? ""
        throw SettingsError(
            """
            nothing was sent: --wait reads the notification, and the API key '\(name)' lacks the scope read (it has \
            \(scopes.joined(separator: ", ").printable)). Leave out --wait, or use a key of \
            'martlet key add NAME --scope send --scope read'.
            """,
            status: .usage
        )
    }

    /// Posts the notification. A request whose response is lost is repeated with the same idempotency key.
    private func post(_ body: [String: JSONValue?]) async throws -> JSONValue {
        let key = self.options.idempotencyKey ?? UUID().uuidString
        let request = APIRequest.post(self.path).body(body).idempotencyKey(key)
        var attempt = 0
        while true {
            attempt += 1
            do {
                return try await self.connection.send(request)
            } catch let error as NoResponseError where error.mayHaveArrived {
                guard attempt < Self.tries else {
                    let advice =
                        "the notification may have been accepted: repeat the command with --idempotency-key \(key)"
                    throw SettingsError("\(error); \(advice)", status: .unavailable)
                }
                try await Task.sleep(for: .seconds(attempt))
            }
        }
    }

    /// Waits until the notification has ended, with a bar on a terminal.
    private func follow(_ id: String) async throws -> JSONValue {
        let status = StatusLine()
        defer { status.clear() }
        let limit = Duration.seconds(self.options.waitSeconds)
        var shownFaults: String?
        return try await self.connection.client.end(ofNotification: id, within: limit) { notification in
            if let faults = EnvironmentStateText.faults(notification), faults != shownFaults {
                status.clear()
                StandardError.line(faults)
                shownFaults = faults
            }
            status.show(NotificationProgressText.of(notification))
        }
    }
}

extension APIClient {
    /// The time between two looks at a notification that is waited for.
    static let pollInterval: Duration = .milliseconds(100)

    /// Waits until every recipient of a notification has a final state, or the notification is cancelled.
    /// - Parameter progress: Is called with the notification while it has not ended.
    /// - Returns: The notification at its end.
    /// - Throws: ``SettingsError`` with ``ExitStatus/unfinished`` when the time is up.
    func end(
        ofNotification id: String,
        within limit: Duration,
        progress: (JSONValue) -> Void = { _ in }
    ) async throws -> JSONValue {
        let deadline = ContinuousClock.now + limit
        while true {
            let notification = try await self.send(.get("notifications", id))
            if notification.hasEnded { return notification }
            progress(notification)
            if ContinuousClock.now > deadline {
                let state = NotificationProgressText.of(notification)
                let advice = "the provider continues with it, 'martlet notification watch \(id)' follows it"
                let time = "\(limit.components.seconds) s"
                throw SettingsError(
                    "notification \(id) was not done within \(time) (\(state)); \(advice)",
                    status: .unfinished
                )
            }
            try await Task.sleep(for: Self.pollInterval)
        }
    }
}
