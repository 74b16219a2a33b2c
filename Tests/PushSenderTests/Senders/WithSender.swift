import NIOCore
import PushSupport
import PushTesting
import PushTypes

@testable import PushSender

/// Runs `body` with a scripted service and a sender to it.
func withSender<Value: Sendable>(
    script: @escaping ScriptedService.Script,
    time: any TimeSource = SystemTime(),
    configure: (inout SenderConfiguration) -> Void = { _ in },
    _ body: @Sendable (Sender, ScriptedService) async throws -> Value
) async throws -> Value {
    let service = try await ScriptedService.start(script: script)
    let sender = try makeSender(to: service.endpoint, time: time, configure: configure)
    do {
        let value = try await body(sender, service)
        await sender.close()
        await service.stop()
        return value
    } catch {
        await sender.close()
        await service.stop()
        throw error
    }
}

/// One connection, quick to try again.
func makeSender(
    to endpoint: PushServiceEndpoint,
    time: any TimeSource = SystemTime(),
    configure: (inout SenderConfiguration) -> Void = { _ in }
) throws -> Sender {
    var configuration = SenderConfiguration.patient
    configuration.maximumConnections = 1
    configuration.reconnectBase = .milliseconds(5)
    configuration.reconnectMaximum = .milliseconds(20)
    configuration.drainTimeout = .seconds(5)
    configure(&configuration)
    return try Sender(
        to: endpoint,
        credential: .token(try ProviderTokenSignerTests.key()),
        configuration: configuration,
        time: time,
        logger: silentLogger
    )
}

func makePushes(_ count: Int) -> [Push] {
    (0..<count).map { Vectors.push(id: "push-\($0)") }
}

extension Outcome {
    /// One word.
    var kind: String {
        switch self {
        case .accepted: "accepted"
        case .rejected: "rejected"
        case .notSent: "not sent"
        case .unknown: "unknown"
        }
    }
}

/// How many outcomes there are of each kind.
func kinds(_ outcomes: [Outcome]) -> [String: Int] {
    outcomes.reduce(into: [:]) { $0[$1.kind, default: 0] += 1 }
}
