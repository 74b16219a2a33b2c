import Foundation
import PushSupport
import PushTesting
import PushTypes
import PushWire
import Testing

@testable import ProviderAPI

@Suite(.timeLimit(.patience)) struct VAPIDControllerTests {
    private static let path = "/v1/apps/\(Vectors.bundleID)/vapid"
    private static let contact: JSONValue = "mailto:ops@example.org"

    private func withApp(_ body: @escaping @Sendable (RunningProvider) async throws -> Void) async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            try await body(provider)
        }
    }

    @Test func aKeyIsMadeAndReplaced() async throws {
        try await self.withApp { provider in
            let none = try await provider.api.get(Self.path)
            #expect(none.status == 404 && none.code == "no_vapid_key")
            #expect(try await provider.api.post("\(Self.path):rotate", [:]).code == "no_vapid_key")
            let first = try await provider.api.put(Self.path, ["contact": Self.contact])
            #expect(first.status == 200)
            #expect(first.json["contact"] == Self.contact)
            #expect(first.json["earlierKeys"] == [])
            let key = try #require(first.json["publicKey"].stringValue.flatMap { Base64URL.decode($0) })
            #expect(WebPushKeys.isPublicKey(Array(key)))
            // The same request makes no second one.
            let again = try await provider.api.put(Self.path, ["contact": "https://example.org/contact"])
            #expect(again.json["publicKey"] == first.json["publicKey"])
            #expect(again.json["contact"] == "https://example.org/contact")
            let second = try await provider.api.post("\(Self.path):rotate", [:])
            #expect(second.status == 200)
            #expect(second.json["publicKey"] != first.json["publicKey"])
            #expect(second.json["earlierKeys"].elements == [first.json["publicKey"]])
            #expect(second.json["contact"] == "https://example.org/contact")
            let shown = try await provider.api.get(Self.path)
            #expect(shown.json == second.json)
            #expect(!String(decoding: shown.body, as: UTF8.self).contains("private"))
        }
    }

    @Test func theKeyOfAnotherServerIsTaken() async throws {
        try await self.withApp { provider in
            let key = VAPIDKey()
            let text: JSONValue = .string(Base64URL.encode(key.privateKey))
            let taken = try await provider.api.put(Self.path, ["contact": Self.contact, "privateKey": text])
            #expect(taken.json["publicKey"].stringValue == Base64URL.encode(key.publicKey))
            #expect(try await provider.api.put(Self.path, ["contact": Self.contact, "privateKey": text]).status == 200)
            let pem: JSONValue = .string(Vectors.privateKey)
            let other = try await provider.api.put(Self.path, ["contact": Self.contact, "privateKey": pem])
            #expect(other.status == 409 && other.code == "other_vapid_key")
            let rotated = try await provider.api.post("\(Self.path):rotate", ["privateKey": pem])
            #expect(rotated.json["publicKey"].stringValue?.hasPrefix("BINLlsM6BMZMxxKz") == true)
        }
    }

    @Test func whatPushServicesRejectIsRefused() async throws {
        try await self.withApp { provider in
            let contacts: [JSONValue] = [
                "ops@example.org", "mailto:", "mailto:ops", "mailto:ops@localhost", "mailto:ops@machine.local",
                "mailto:@example.org", "mailto:a@b@example.org", "mailto:ops@127.0.0.1", "http://example.org",
                "https://localhost/x", "https://", "mailto:ops @example.org", "mailto:ops@exämple.org", 7,
            ]
            for contact in contacts {
                let response = try await provider.api.put(Self.path, ["contact": contact])
                #expect(response.status == 400, "\(contact)")
                #expect(response.field == "contact", "\(contact)")
            }
            for key in ["", "AAAA", "-----BEGIN PRIVATE KEY-----"] {
                let body: JSONValue = ["contact": Self.contact, "privateKey": .string(key)]
                let response = try await provider.api.put(Self.path, body)
                #expect(response.status == 400 && response.field == "privateKey", "\(key)")
            }
            #expect(try await provider.api.put(Self.path, [:]).field == "contact")
            #expect(
                try await provider.api.put("/v1/apps/com.example.Other/vapid", ["contact": Self.contact]).status == 404
            )
        }
    }
}
