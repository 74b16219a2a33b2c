import Crypto
import Foundation
import NIOCore
import ProviderAPI
import ProviderModel
import PushStore
import PushSupport
import PushTypes

struct FCMSender: Sendable {
    /// The message id in the response to a message that is only checked.
    private static let testName = "fake_message_id"
    /// The maximum number of devices of an installation that are read from the store. The oldest are read first.
    private static let maximumDevices = 100

    let submission: PushSubmission

    private var parts: ProviderComponents { self.submission.parts }

    /// The project that a request addresses, with its app, its settings and the credential of the request.
    struct Project: Sendable {
        let bridge: BridgeRecord
        let app: AppRecord
        let settings: FCMSettings
        let admission: BridgeAuthenticator.Admission

        func name(_ message: String) -> String { "projects/\(self.bridge.name)/messages/\(message)" }
    }

    /// A message that has passed all checks, in the form in which it is sent.
    struct Plan: Sendable {
        let content: TranslatedPush.Checked
        let audience: Audience
        let environment: PushEnvironment?
    }

    // MARK: Planning

    /// Checks a message and returns it in the form in which it can be sent. An installation is resolved to one of its
    /// devices.
    /// - Throws: ``FCMError`` for a message that cannot be sent.
    func plan(_ message: FCMMessage, _ project: Project) async throws -> Plan {
        let content = try message.push(to: project.app.bundleID, now: self.parts.time.now)
        switch message.target {
        case .topics(let audience):
            guard try await self.submission.canSend(project.app) else { throw Self.noCredential(nil) }
            return Plan(content: content, audience: .devices(audience), environment: project.bridge.environment)
        case .token(let token): return try await self.plan(content, to: token, project)
        case .installation(let id):
            let devices = try await self.devices(of: id, project)
            let kind = content.content.tokenKind
            let fitting = devices.filter { kind == nil || $0.kind == kind }
            let chosen = fitting.first { $0.environment == .production } ?? fitting.last
            guard let token = chosen?.token else { throw FCMError.unregistered }
            return try await self.plan(content, to: token, project)
        }
    }

    private func plan(_ content: TranslatedPush.Checked, to token: DeviceToken, _ project: Project) async throws -> Plan
    {
        let sorted = try await self.submission.sorted(
            [token],
            of: project.app,
            wanted: content.content.tokenKind,
            environment: project.bridge.environment
        )
        guard let group = sorted.groups.first else {
            throw sorted.refused[token] == .deviceTokenNotForTopic ? FCMError.senderIDMismatch : .unregistered
        }
        guard try await self.submission.canSend(project.app, to: group.environment) else {
            throw Self.noCredential(group.environment ?? .production)
        }
        return Plan(content: content, audience: .tokens(group.tokens), environment: group.environment)
    }

    /// Returns the active devices of an installation in the bridge's environment, at most ``maximumDevices``.
    func devices(of installation: String, _ project: Project) async throws -> [DeviceRecord] {
        var search = DeviceSearch(app: project.app.id)
        (search.installation, search.state) = (installation, .active)
        search.environment = project.bridge.environment
        return try await self.parts.store.devices(search, sort: .oldest, after: nil, limit: Self.maximumDevices).entries
    }

    private static func noCredential(_ environment: PushEnvironment?) -> FCMError {
        .thirdPartyAuth("The app has no credential for \(environment?.rawValue ?? "any environment").")
    }

    // MARK: Sending

    /// Sends a message, and waits for its outcome if it is sent to one token.
    /// - Parameter channel: The connection of the client. If it is closed, the wait ends.
    /// - Returns: The resource name of the message, or that of an earlier one if the request is a repetition.
    /// - Throws: ``FCMError`` for a message that was not sent.
    func send(
        _ message: FCMMessage,
        _ body: Data,
        _ project: Project,
        receivedAt: Timestamp,
        on channel: any Channel
    ) async throws -> String {
        let repetition = self.repetition(body, project, at: receivedAt)
        if let repetition, let earlier = try await self.earlier(repetition, project, at: receivedAt) {
            return try await self.name(of: earlier, project, on: channel)
        }
        let plan = try await self.plan(message, project)
        guard !message.isTest else { return project.name(Self.testName) }
        let notification: NotificationRecord
        do {
            notification = try await self.submission.accept(
                plan.content.request(to: plan.audience, environment: plan.environment),
                of: project.app,
                key: project.admission.key,
                origin: NotificationOrigin(.fcm, bridge: project.bridge.name),
                receivedAt: receivedAt,
                repetition: repetition?.present
            )
        } catch let error as RequestError where error.code == "no_token_of_kind" {
            // A topic without subscribers is not an error.
            return project.name(UUID().uuidString.lowercased())
        } catch let error as RequestError where error.code == "token_of_other_kind" {
            throw FCMError.senderIDMismatch
        }
        return try await self.name(of: notification, project, on: channel)
    }

    /// Returns the resource name of a message in the ledger. If the message is for one token, waits for its outcome
    /// first.
    private func name(
        of notification: NotificationRecord,
        _ project: Project,
        on channel: any Channel
    ) async throws -> String {
        guard case .tokens(let tokens) = notification.audience, let token = tokens.first else {
            return project.name(notification.id.uuidString.lowercased())
        }
        let push = PushSubmission.Accepted(notification: notification, tokens: tokens)
        let verdict = try await self.submission.verdicts(of: [push], on: channel).first?[token]
        switch verdict {
        case .accepted(let id)?, .pending(let id)?, .skipped(let id)?: return project.name(id)
        case let failure?: throw FCMError(failure) ?? FCMError(500, "INTERNAL", "no outcome", code: .internalError)
        case nil: return project.name(notification.id.uuidString.lowercased())
        }
    }

    // MARK: Repetitions

    /// The idempotency keys of a request: one for the current time window, and one for the window before it.
    private struct Repetition {
        let present, before: Idempotency
        let window: Duration
    }

    /// Returns the idempotency keys of a request, or `nil` if the bridge does not recognize repetitions.
    private func repetition(_ body: Data, _ project: Project, at: Timestamp) -> Repetition? {
        guard let seconds = project.settings.repeatSeconds else { return nil }
        let caller = project.admission.key?.id.uuidString ?? "secret"
        let fingerprint = Array(SHA256.hash(data: Data(caller.utf8) + body))
        let hash = Hexadecimal.encode(fingerprint)
        let window = at.seconds / max(1, seconds)
        func identity(_ window: Int64) -> Idempotency {
            // Idempotency keys of API callers contain no space.
            Idempotency(key: "fcm \(project.bridge.name) \(hash) \(window)", fingerprint: fingerprint)
        }
        return Repetition(present: identity(window), before: identity(window - 1), window: .seconds(seconds))
    }

    /// Returns the notification of an equal earlier request (``FCMSettings/repeatSeconds``), or `nil` if there was
    /// none.
    private func earlier(
        _ repetition: Repetition,
        _ project: Project,
        at: Timestamp
    ) async throws -> NotificationRecord? {
        for identity in [repetition.present, repetition.before] {
            guard case .repeated(let earlier)? = try await self.parts.store.accepted(identity, app: project.app.id)
            else { continue }
            if at.since(earlier.createdAt) <= repetition.window { return earlier }
        }
        return nil
    }
}
