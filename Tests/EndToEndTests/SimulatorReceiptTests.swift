import AppSimulator
import Foundation
import MartletKit
import PushSupport
import PushTesting
import Synchronization
import Testing

/// What the provider hears of a notification from a simulated phone.
@Suite("Receipts of a simulated phone", .timeLimit(.patience)) struct SimulatorReceiptTests {
    private static let app = "/v1/apps/\(Vectors.bundleID)"

    private func withReceipts(_ body: @escaping @Sendable (RunningLoop) async throws -> Void) async throws {
        try await withLoop { loop in
            let change = try PushSupport.JSONValue.object(["receipts": "device"]).text
            #expect(try await loop.provider.api.call("PATCH", Self.app, change).status == 200)
            try await body(loop)
        }
    }

    private func receipts(_ loop: RunningLoop, _ answer: JSONClient.Response) async throws -> Set<String> {
        let delivery = try await loop.provider.deliveries(answer).first
        return Set(delivery?["receipts"].elements.compactMap { $0["event"].stringValue } ?? [])
    }

    @Test("What the user does with a notification is counted with it")
    func counted() async throws {
        try await self.withReceipts { loop in
            try await loop.withPhone { phone in
                try await phone.run("wait registered")
                let opened = try await phone.send(["alert": "1", "mutableContent": true], to: ["all": true])
                try await phone.run("wait shown", "open", "convert bought", "wait receipts 4")
                let seen = try await self.receipts(loop, opened)
                #expect(seen.isSuperset(of: ["delivered", "shown", "opened", "converted"]))
                let dismissed = try await phone.send(["alert": "2", "mutableContent": true], to: ["all": true])
                try await phone.run("wait shown", "dismiss", "wait receipts 3")
                #expect(try await self.receipts(loop, dismissed).contains("dismissed"))
                let none = try await phone.send(["alert": "3", "receipts": "none"], to: ["all": true])
                try await phone.run("wait shown", "open", "flush")
                #expect(try await self.receipts(loop, none).contains("opened") == false)
            }
        }
    }

    /// A transport that can be away.
    private final class Away: DownloadTransport {
        let isAway = Mutex(false)
        private let base = URLSessionTransport()

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            if self.isAway.withLock({ $0 }) { throw TransportError.deadlineExceeded }
            return try await self.base.send(request)
        }

        func receive(
            _ request: TransportRequest,
            _ part: @escaping @Sendable (ResponsePart) throws -> Void
        ) async throws {
            if self.isAway.withLock({ $0 }) { throw TransportError.deadlineExceeded }
            try await self.base.receive(request, part)
        }
    }

    @Test("Receipts that could not be sent are sent by the next run")
    func restart() async throws {
        try await self.withReceipts { loop in
            try await withTemporaryDirectory { folder in
                let transport = Away()
                let sent = try await loop.withPhone(in: folder, transport: transport) { phone in
                    try await phone.run("wait registered")
                    // No receipt is sent before it is away.
                    transport.isAway.withLock { $0 = true }
                    let sent = try await phone.send(["alert": "1"], to: ["all": true])
                    try await phone.run("wait shown", "open")
                    #expect(await phone.simulator.flush() == 3)
                    return sent
                }
                #expect(try await self.receipts(loop, sent).contains("opened") == false)
                try await loop.withPhone(in: folder) { phone in try await phone.run("wait receipts 3") }
                #expect(try await self.receipts(loop, sent).isSuperset(of: ["delivered", "shown", "opened"]))
            }
        }
    }
}
