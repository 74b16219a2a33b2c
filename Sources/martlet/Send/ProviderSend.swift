import ArgumentParser
import Foundation
import NIOCore
import PushSupport
import UnixSignals

/// The options for a notification that is sent through a provider.
struct ProviderSendOptions: ParsableArguments {
    /// The default time limit of `--wait`, in seconds.
    private static let standardWait = 60

    @Option(help: "A key that sends the same notification only once when repeated. Default: a new one for each call.")
    var idempotencyKey: String?
    @Flag(help: "Wait until every recipient has its outcome. The key needs the scope read for that.") var wait = false
    @Option(help: "The maximum number of seconds to wait.") var waitSeconds = Self.standardWait

    var isGiven: Bool { self.wait || self.waitSeconds != Self.standardWait || self.idempotencyKey != nil }

    func validate() throws {
        guard (1...86_400).contains(self.waitSeconds) else {
            throw ValidationError("--wait-seconds is 1 to 86400.")
        }
    }
}

/// Sends one notification through a provider, and waits until it has finished if the options request that.
struct ProviderSend {
    /// The maximum number of attempts to send a request that has no definite response.
    private static let tries = 3

    /// The delay before the second attempt. The delays before later ones are longer. Tests set it to zero.
    @TaskLocal static var pause: Duration = .seconds(1)

    private let connection: APIConnection
    /// The idempotency key of the notification, or `nil` to generate one.
    private let idempotencyKey: String?
    /// The time limit for waiting until the notification has finished, or `nil` to return without waiting.
    private let wait: Duration?
    private let path: String
    private let json: Bool

    /// Creates a sender of notifications with the options.
    /// - Parameter path: The path component that follows that of the app, to which the POST request is sent.
    init(
        _ connection: APIConnection,
        _ options: ProviderSendOptions,
        path: String = ProviderNotification.path,
        json: Bool
    ) {
        (self.connection, self.path, self.json) = (connection, path, json)
        self.idempotencyKey = options.idempotencyKey
        self.wait = options.wait ? .seconds(options.waitSeconds) : nil
    }

    /// Sends the notification and prints its id, then waits until it has finished if the options request that.
    /// - Returns: The exit status of the command.
    func send(_ body: [String: JSONValue?]) async throws -> ExitStatus {
        // A notification that cannot be followed must not be sent, because the user would send it again.
        if self.wait != nil { try await self.checkScopes() }
        return try await TerminationSignal.cancelling { try await self.sendAndFollow(body) }
    }

    private func sendAndFollow(_ body: [String: JSONValue?]) async throws -> ExitStatus {
        let (id, accepted) = try await self.post(body)
        PreviewText.warn(accepted)
        guard let wait else {
            try self.show(self.json ? try accepted.line : id.printable, of: id)
            return accepted.reachesNobody ? .nobodyReached : .done
        }
        if self.json {
            StandardError.line("notification \(id.printable)")
        } else {
            try self.show(id.printable, of: id)
        }
        let end = try await self.follow(id, within: wait)
        try StandardOutput.result(self.json ? try end.line : NotificationProgressText.of(end))
        return end.exitStatus
    }

    /// Prints a message about an accepted notification. If that fails, prints the notification's id to standard error.
    private func show(_ text: String, of id: String) throws {
        do {
            try StandardOutput.result(text)
        } catch let error as OutputError {
            StandardError.line("notification \(id.printable) is accepted")
            throw error
        }
    }

    /// Throws ``SettingsError`` unless the API key may read the notification that it sends, which waiting requires.
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

    /// Sends the notification in a POST request. If there is no definite response, the request is repeated with the
    /// same idempotency key.
    /// - Returns: The id of the notification, and the JSON of the response.
    private func post(_ body: [String: JSONValue?]) async throws -> (id: String, response: JSONValue) {
        let key = self.idempotencyKey ?? UUID().uuidString
        let request = APIRequest.post(self.path).body(body).idempotencyKey(key)
        var (attempt, mayBeAccepted) = (0, false)
        while true {
            attempt += 1
            do {
                let response = try await self.connection.send(request)
                guard let id = response["id"].stringValue else { throw self.connection.client.notAnAPI }
                return (id, response)
            } catch {
                mayBeAccepted = mayBeAccepted || Task.isCancelled || Self.mayBeAccepted(error)
                guard mayBeAccepted else { throw error }
                guard attempt < Self.tries, APIClient.mayPass(error), await Self.rest(after: attempt) else {
                    throw Self.unanswered(error, key)
                }
            }
        }
    }

    /// Returns whether a request that failed with this error may nevertheless have been accepted.
    private static func mayBeAccepted(_ error: any Error) -> Bool {
        switch error {
        case let error as NoResponseError: error.mayHaveArrived
        case let error as APIErrorResponse: error.mayBeDone
        default: error is ForeignServerError
        }
    }

    /// Waits before the next attempt.
    /// - Returns: `true` after the delay, and `false` if the command was interrupted.
    private static func rest(after attempt: Int) async -> Bool {
        (try? await Task.sleep(for: Self.pause * attempt)) != nil
    }

    /// Returns an error that contains the idempotency key of a notification that may have been accepted.
    private static func unanswered(_ error: any Error, _ key: String) -> SettingsError {
        let isInterrupted = Task.isCancelled
        let cause = isInterrupted ? "interrupted before the response" : "\(error)"
        let advice = "the notification may have been accepted: repeat the command with --idempotency-key \(key)"
        let isSilent = isInterrupted || error is NoResponseError
        return SettingsError("\(cause); \(advice)", status: isSilent ? .unavailable : .failed)
    }

    /// Waits until a notification has finished, with a progress bar on a terminal, and returns the notification.
    private func follow(_ id: String, within limit: Duration) async throws -> JSONValue {
        let status = StatusLine()
        defer { status.clear() }
        var shownFaults: String?
        do {
            return try await self.connection.client.end(ofNotification: id, within: limit) { notification in
                if let faults = EnvironmentStateText.faults(notification), faults != shownFaults {
                    status.clear()
                    StandardError.line(faults)
                    shownFaults = faults
                }
                status.show(NotificationProgressText.of(notification))
            }
        } catch is CancellationError {
            throw SettingsError("interrupted; \(APIClient.advice(onUnfinished: id))", status: .unfinished)
        }
    }
}

extension APIClient {
    static let pollInterval: Duration = .milliseconds(100)

    /// Waits until every recipient of a notification has a final state, or the notification is cancelled. A failed
    /// request is repeated if it may succeed later.
    /// - Parameter progress: A closure that receives the notification after each request until it has finished.
    /// - Returns: The finished notification.
    /// - Throws: ``SettingsError`` with ``ExitStatus/unfinished`` after the time limit.
    func end(
        ofNotification id: String,
        within limit: Duration,
        progress: (JSONValue) -> Void = { _ in }
    ) async throws -> JSONValue {
        let deadline = ContinuousClock.now + limit
        let longest = Duration.nanoseconds(Self.timeout.nanoseconds)
        while true {
            let state: String
            var pause = Self.pollInterval
            do {
                let rest = max(.seconds(1), deadline - .now)
                let notification = try await self.send(.get("notifications", id), within: min(longest, rest))
                if notification.hasEnded { return notification }
                progress(notification)
                state = NotificationProgressText.of(notification)
            } catch let error where Self.mayPass(error) {
                state = "\(error)"
                pause = ProviderSend.pause
            }
            if ContinuousClock.now > deadline {
                let time = "\(limit.components.seconds) s"
                throw SettingsError(
                    "notification \(id) was not done within \(time) (\(state)); \(Self.advice(onUnfinished: id))",
                    status: .unfinished
                )
            }
            try await Task.sleep(for: pause)
        }
    }

    static func advice(onUnfinished id: String) -> String {
        "the provider continues with it, 'martlet notification watch \(id)' follows it"
    }
}

/// Waits for a signal from Ctrl-C or a service manager, for a command that prints a message before it exits.
enum TerminationSignal {
    /// A closure that returns once SIGINT or SIGTERM has arrived. Tests replace it.
    @TaskLocal static var wait: @Sendable () async -> Void = {
        for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) { return }
    }

    /// Performs work, and cancels it when SIGINT or SIGTERM arrives.
    static func cancelling<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await work() }
            group.addTask {
                await Self.wait()
                return nil
            }
            defer { group.cancelAll() }
            while let result = try await group.next() {
                if let value = result { return value }
                group.cancelAll()
            }
            throw CancellationError()
        }
    }
}
