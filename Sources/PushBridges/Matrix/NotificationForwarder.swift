import PushSupport

/// Forwards notifications to endpoints of UnifiedPush: addresses that are the pushkeys of apps without Apple's push service.
///
/// The probe `GET /_matrix/push/v1/notify` tells apps that they may name such addresses only where something forwards.
protocol NotificationForwarder: Sendable {
    /// Forwards the body of a request.
    /// - Parameters:
    ///   - body: The JSON text as the homeserver sent it.
    ///   - endpoint: The pushkey. Nobody has checked where it leads.
    ///   - app: The app whose bridge it is.
    ///   - client: The homeserver.
    /// - Throws: An error for which the homeserver is to repeat the request.
    func forward(
        _ body: [UInt8],
        to endpoint: String,
        of app: MatrixApp,
        for client: BudgetCaller
    ) async throws -> UnifiedPushOutcome
}

/// The outcome of a notification that was forwarded.
enum UnifiedPushOutcome: Hashable, Sendable {
    /// It is kept, or the endpoint has it.
    case accepted
    /// The endpoint does not exist any more: the homeserver shall forget it.
    case gone
}
