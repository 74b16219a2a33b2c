package import PushStore
import PushSupport
import PushTypes

extension RequestError {
    /// The error for a named token that is registered with another kind than the push goes to.
    /// - Parameter position: The position of the token in the request.
    static func tokenOfOtherKind(_ kind: DeviceTokenKind, wanted: DeviceTokenKind, position: Int) -> RequestError {
        RequestError(
            .conflict,
            code: "token_of_other_kind",
            message: """
                the token is registered with the kind \(kind.rawValue), and this push goes to tokens of the kind \
                \(wanted.rawValue): name one of those, or register the token with the kind that it has
                """,
            path: "to.tokens[\(position)]"
        )
    }

    /// The error for an audience that no device can be in, as none has a token of the kind that the push goes to.
    static func noTokenOfKind(_ kind: DeviceTokenKind) -> RequestError {
        RequestError(.conflict, code: "no_token_of_kind", message: Self.lack(of: kind), path: "pushType")
    }

    /// Returns the explanation that no device has a token of a kind, with the remedy.
    static func lack(of kind: DeviceTokenKind) -> String {
        "no active device of the app has a token of the kind \(kind.rawValue): register one with that kind"
    }
}

extension DeviceStore where Self: AppStore {
    /// Returns the kind of tokens that no device of an app has and that a notification would go to; `nil` if some has.
    ///
    /// An app without any device is another matter: its audiences are empty whatever is sent.
    func missingKind(for content: NotificationContent, app: Int64) async throws -> DeviceTokenKind? {
        guard let kind = content.tokenKind else { return nil }
        let found = try await self.countingQuickly(app: app, within: .seconds(1)) {
            try await self.tokenKinds(app: app)
        }
        // Nothing is known then: the notification has no recipients, and is not worth a wait.
        guard let kinds = found else { return nil }
        return kinds.contains(kind) || kind == .alert && kinds.isEmpty ? nil : kind
    }
}

extension ContentWarning {
    /// Returns the warning that a notification would reach nobody now, for want of tokens of its kind; `nil` if there are
    /// some. Devices may still register one before it is sent.
    package static func missingTokens(
        for request: NotificationRequest,
        app: Int64,
        in store: any AppStore & DeviceStore
    ) async throws -> ContentWarning? {
        guard case .devices = request.audience else { return nil }
        let kind = try await store.missingKind(for: request.content, app: app)
        return kind.map { ContentWarning(field: "pushType", message: RequestError.lack(of: $0)) }
    }
}
