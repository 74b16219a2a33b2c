import Foundation
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import ProviderAPI

/// Templates over a real port.
@Suite(.timeLimit(.patience)) struct TemplatesTests {
    private static let app = "/v1/apps/\(Vectors.bundleID)"
    private static let path = "\(Self.app)/templates"
    private static let content: JSONValue = [
        "alert": ["title": "Hello {{name|you}}", "body": "Your code is {{code}}"], "template": true, "badge": 1,
    ]

    private func withTemplate(_ body: @escaping @Sendable (RunningProvider) async throws -> Void) async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            let device: [String: JSONValue] = ["user": "alice", "attributes": ["name": "Alice"]]
            _ = try await provider.register(DeviceToken.numbered(1).hex, device)
            let saved = try await provider.api.post(Self.path, ["name": "welcome", "content": Self.content])
            #expect(saved.status == 201)
            #expect(saved.json["warnings"].elements.first?["field"] == "template")
            try await body(provider)
        }
    }

    private static func alert(_ preview: JSONValue) -> JSONValue { preview["payload"]["aps"]["alert"] }

    @Test func theMembersOfARequestGoBeforeThoseOfTheTemplate() async throws {
        try await self.withTemplate { provider in
            let template: JSONValue = ["name": "welcome", "variables": ["code": "{{7"]]
            let preview = try await provider.api.post(
                "\(Self.app)/notifications:preview",
                ["to": ["all": true], "template": template, "sound": "ping", "badge": .null, "user": "alice"]
            ).json
            #expect(Self.alert(preview) == ["title": "Hello Alice", "body": "Your code is {{7"])
            #expect(preview["payload"]["aps"]["sound"] == "ping")
            #expect(preview["payload"]["aps"]["badge"] == .null, "null leaves a member of the template out")
            let sent = try await provider.send([
                "to": ["user": "alice"], "template": template, "alert": "Mine", "environment": "sandbox",
            ])
            #expect(sent.json["error"]["code"] == .null)
            let shown = try await provider.finished(sent)
            #expect(shown["counters"]["accepted"] == 1)
            #expect(shown["content"]["payload"]["aps"]["alert"] == "Mine")
        }
    }

    @Test func aNewTemplateTakesNoNameThatAnotherHas() async throws {
        try await self.withTemplate { provider in
            let taken = try await provider.api.put(
                "\(Self.path)/other",
                ["content": ["alert": "Hello"], "name": "welcome"]
            )
            #expect(taken.status == 409 && taken.json["error"]["code"] == "name_taken")
            #expect(try await provider.api.get("\(Self.path)/other").status == 404)
            let free = try await provider.api.put("\(Self.path)/other", ["content": ["alert": "Hello"], "name": "bye"])
            #expect(free.status == 201 && free.json["name"] == "bye")
        }
    }

    @Test func aNotificationNamesAVersionAndAPreviewRendersOne() async throws {
        try await self.withTemplate { provider in
            let item = "\(Self.path)/welcome"
            let second = try await provider.api.put(item, ["content": ["alert": "Second"], "version": 1])
            #expect(second.status == 200 && second.json["version"] == 2)
            let newest = try await provider.api.post("\(item):preview", [:]).json
            #expect(Self.alert(newest) == "Second" && newest["recipients"] == .null && newest["warnings"] == [])
            let first = try await provider.api.post(
                "\(item):preview",
                ["version": 1, "variables": ["code": 5], "device": .string(DeviceToken.numbered(1).hex)]
            ).json
            #expect(Self.alert(first) == ["title": "Hello Alice", "body": "Your code is 5"])
            let pinned: JSONValue = ["to": ["all": true], "template": ["name": "welcome", "version": 2]]
            let preview = try await provider.api.post("\(Self.app)/notifications:preview", pinned).json
            #expect(Self.alert(preview) == "Second")
            #expect(try await provider.api.post("\(item):restore", ["version": 1]).json["content"] == Self.content)
        }
    }

    @Test func badTemplatesAndReferencesAreRefusedWithTheirMember() async throws {
        try await self.withTemplate { provider in
            let contents: [(JSONValue, String, String)] = [
                (["alert": 7], "wrong_type", "alert"), (["to": ["all": true]], "unknown_field", "content.to"),
                (["alert": "a", "expiration": 4_000_000_000], "conflicting_field", "content.expiration"),
                (["alert": "a", "template": ["name": "welcome"]], "wrong_type", "template"),
            ]
            for (content, code, field) in contents {
                let response = try await provider.api.put("\(Self.path)/bad", ["content": content])
                #expect(response.status == 400 && response.json["error"]["code"] == .string(code), "\(content)")
                #expect(response.json["error"]["field"].stringValue?.hasSuffix(field) == true)
            }
            let references: [(JSONValue, String, String)] = [
                (["name": "nothing"], "no_such_template", "template"),
                (["name": "welcome", "version": 9], "no_such_version", "template.version"),
                ([:], "missing_field", "template.name"), (["id": "7"], "invalid_id", "template.id"),
                (["name": "welcome", "variables": ["cod": 1]], "unknown_variable", "template.variables.cod"),
            ]
            for (reference, code, field) in references {
                let response = try await provider.send(["to": ["all": true], "template": reference])
                #expect(response.status == 400 && response.json["error"]["code"] == .string(code), "\(reference)")
                #expect(response.json["error"]["field"] == .string(field))
            }
            let both: JSONValue = ["user": "alice", "device": "00"]
            let preview = try await provider.api.post("\(Self.path)/welcome:preview", both)
            #expect(preview.json["error"]["code"] == "conflicting_field")
        }
    }

    /// Its body has the members that a notification has in `template`.
    @Test func aPreviewIsRefusedWithTheMemberOfItsBody() async throws {
        try await self.withTemplate { provider in
            let plain = try await provider.api.post(Self.path, ["name": "plain", "content": ["alert": "Hello"]])
            #expect(plain.status == 201)
            let previews: [(String, JSONValue, String, String)] = [
                ("welcome", ["version": 9], "no_such_version", "version"),
                ("welcome", ["variables": ["cod": 1]], "unknown_variable", "variables.cod"),
                ("welcome", ["variables": ["code": [1]]], "wrong_type", "variables.code"),
                ("plain", ["variables": ["code": 1]], "conflicting_field", "variables"),
            ]
            for (name, body, code, field) in previews {
                let response = try await provider.api.post("\(Self.path)/\(name):preview", body)
                #expect(response.status == 400 && response.json["error"]["code"] == .string(code), "\(body)")
                #expect(response.json["error"]["field"] == .string(field))
            }
        }
    }
}
