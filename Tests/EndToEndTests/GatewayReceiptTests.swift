import Foundation
import Logging
import PushDevice
import PushGateway
import PushProvider
import PushSupport
import PushTesting
import PushTypes
import Testing

/// Deliveries that the gateway reports, as receipts of the provider.
@Suite(.timeLimit(.patience)) struct GatewayReceiptTests {
    @Test func theLoopClosesWithoutAnApp() async throws {
        try await withLoop { loop in
            let path = "/v1/apps/\(Vectors.bundleID)"
            let change = try PushSupport.JSONValue.object(["receipts": "device"]).text
            #expect(try await loop.provider.api.call("PATCH", path, change).status == 200)
            try await loop.withDevice(try await loop.activate()) { device in
                let token = try await device.deviceToken(for: Vectors.bundleID, timeout: .patience)
                #expect(try await loop.provider.register(token, ["user": "alice"]).status == 201)
                let answer = try await loop.provider.send(["to": ["user": "alice"], "alert": "Hi"])
                _ = try #require(await device.next())
                let finished = try await loop.provider.finished(answer)
                let id = finished["id"].stringValue ?? ""
                let receipt = try await Self.receipts(of: id, loop)
                #expect(receipt.count == 1)
                #expect(receipt.first?["event"] == "delivered" && receipt.first?["source"] == "gateway")
                #expect(receipt.first?["deviceId"].integerValue != nil)
                let counts = try await loop.provider.api.get("/v1/notifications/\(id)").json["receiptCounts"].elements
                #expect(counts.map { $0["unique"] } == [1] && counts.map { $0["total"] } == [1])
            }
        }
    }

    /// Returns the receipts of a notification, once there are some.
    private static func receipts(of id: String, _ loop: RunningLoop) async throws -> [JSONValue] {
        while true {
            try Task.checkCancellation()
            let page = try await loop.provider.api.get("/v1/notifications/\(id)/receipts").json
            if !page["receipts"].elements.isEmpty { return page["receipts"].elements }
        }
    }
}
