import Foundation
import Hummingbird
import Logging
import ProviderAPI
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTesting
import PushTypes
import ServiceLifecycle
import Testing

@testable import PushBridges

/// Homeservers that close the connection before the response.
@Suite(.timeLimit(.patience)) struct MatrixDisconnectionTests {
    private static func request(_ body: [UInt8], length: Int? = nil) -> [UInt8] {
        let length = length ?? body.count
        return Array("POST \(MatrixVectors.path) HTTP/1.1\r\nhost: a\r\ncontent-length: \(length)\r\n\r\n".utf8) + body
    }

    /// Waits until the metrics have a line.
    private static func waitForMetric(
        of provider: RunningProvider,
        _ isWanted: @Sendable (Substring) -> Bool
    ) async throws {
        while true {
            let text = String(decoding: try await provider.api.get("/metrics").body, as: UTF8.self)
            if text.split(separator: "\n").contains(where: isWanted) { return }
            try Task.checkCancellation()
        }
    }

    /// Indicates that a request was not accepted.
    @Sendable private static func isRefusal(_ line: Substring) -> Bool {
        line.hasPrefix("martlet_api_requests_total{") && line.contains("matrix.notify") && !line.contains("\"200\"")
    }

    /// A client that has posted an address, alone or with many pushkeys, and closes the connection in good order, has no more of
    /// its work done.
    @Test(arguments: [1, 100]) func workStopsWhenTheHomeserverHasGone(count: Int) async throws {
        let forwarder = HeldForwarder()
        try await withProvider(
            senders: ScriptedSender(),
            addition: { MatrixAlone($0, forwarder) }
        ) { provider in
            try await provider.addVectorsApp(in: PushEnvironment.allCases)
            let settings: JSONValue = ["unifiedPush": true]
            try await provider.api.put(RunningMatrix.bridge, ["environment": "production", "settings": settings])
            // The first device is being dealt with when the connection is closed.
            let pushkeys = ["https://push.example/1"] + (1..<count).map { DeviceToken.numbered($0).hex }
            let devices = pushkeys.map { pushkey -> JSONValue in
                ["app_id": .string(MatrixVectors.appID), "pushkey": .string(pushkey)]
            }
            let body = MatrixVectors.body(["event_id": "$1", "devices": .array(devices)])
            let port = URL(string: provider.api.baseURL)?.port ?? 0
            let connection = try await RawConnection.open(port: port)
            connection.write(Self.request(Array(try body.text)))
            await forwarder.began.pass()
            await connection.close()
            await forwarder.ended.pass()
            try await Self.waitForMetric(of: provider, Self.isRefusal)
            let list = try await provider.api.get("\(RunningMatrix.app)/notifications").json["notifications"].elements
            #expect(list.isEmpty)
        }
    }

    /// Before, each was an error line of its own.
    @Test func aConnectionThatIsResetIsNoError() async throws {
        let log = RecordedLog(level: .warning)
        try await withMatrix(logger: log.logger) { matrix in
            let connection = try await RawConnection.open(port: matrix.port)
            connection.write(Self.request(Array(repeating: UInt8(ascii: " "), count: 2000), length: 4000))
            try await Self.waitForMetric(of: matrix.provider) { line in
                line.hasPrefix("martlet_resource_in_use{") && line.contains("matrixBytes") && !line.hasSuffix(" 0")
            }
            try await connection.reset()
            try await Self.waitForMetric(of: matrix.provider, Self.isRefusal)
        }
        #expect(!log.lines.contains { $0.contains("Matrix") }, "\(log.lines)")
    }
}

/// A forwarder that is never done.
private struct HeldForwarder: NotificationForwarder {
    let began = Gate()
    let ended = Gate()

    func forward(
        _ body: [UInt8],
        to endpoint: String,
        of app: MatrixApp,
        for client: BudgetCaller
    ) async throws -> UnifiedPushOutcome {
        self.began.open()
        defer { self.ended.open() }
        try await OneShotValue<Void>().valueUnlessCancelled()
        return .accepted
    }
}
