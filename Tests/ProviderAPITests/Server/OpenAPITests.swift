import Foundation
import NIOCore
import ProviderAPI
import PushHTTP
import PushSupport
import PushTesting
import Testing

/// The OpenAPI document, and its agreement with the API.
@Suite(.timeLimit(.patience)) struct OpenAPITests {
    private static let methods: Set = ["get", "put", "post", "delete", "patch", "options", "head"]

    /// Path, method and operation.
    private static func operations(_ document: JSONValue) -> [(path: String, method: String, operation: JSONValue)] {
        guard case .object(let paths) = document["paths"] else { return [] }
        return paths.flatMap { path, item -> [(String, String, JSONValue)] in
            guard case .object(let members) = item else { return [] }
            return members.map { (path, $0.key, $0.value) }
        }
    }

    @Test func everyOperationRespondsAndNoOtherMethod() async throws {
        // Its requests have no key, and may take as long as they do.
        try await withProvider(
            senders: ScriptedSender(),
            configure: { $0.limits.unauthenticated.deadline = .hours(1) }
        ) { provider in
            let document = try await provider.api.get("/openapi.json")
            #expect(document.status == 200)
            let operations = Self.operations(document.json)
            #expect(operations.count > 50)
            for (path, known) in Dictionary(grouping: operations, by: \.path) {
                let real = path.split(separator: "/", omittingEmptySubsequences: false)
                    .map { $0.replacing(#/\{.*?\}/#, with: "x") }.joined(separator: "/")
                for method in Self.methods.subtracting(["head"]) {
                    var api = provider.api
                    api.apiKey = nil
                    let response = try await api.call(method.uppercased(), real, nil)
                    guard let operation = known.first(where: { $0.method == method })?.operation else {
                        #expect(response.status == 405, "\(method) \(path)")
                        continue
                    }
                    let isOpen = operation["security"].elements.isEmpty
                    // The address of a file is signed.
                    let open = path.hasPrefix("/v1/files/") ? 403 : 200
                    #expect(response.status == (isOpen ? open : 401), "\(method) \(path)")
                }
            }
        }
    }

    @Test func theDocumentIsWhole() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            let document = try await provider.api.get("/openapi.json").json
            #expect(document["openapi"] == "3.1.0")
            var ids: Set<String> = []
            for (path, method, operation) in Self.operations(document) {
                let id = operation["operationId"].stringValue ?? ""
                let isNew = ids.insert(id).inserted
                #expect(isNew && !id.isEmpty, "\(method) \(path)")
                #expect(operation["summary"].stringValue?.isEmpty == false)
                let declared = operation["parameters"].elements.filter { $0["in"] == "path" }
                let names = path.matches(of: #/\{(.*?)\}/#).map { String($0.1) }
                #expect(declared.compactMap { $0["name"].stringValue } == names, "\(path)")
                #expect(declared.allSatisfy { $0["description"].stringValue?.isEmpty == false }, "\(path)")
                guard case .object(let responses) = operation["responses"] else {
                    Issue.record("\(path) has no responses")
                    continue
                }
                #expect(responses.keys.contains { $0.hasPrefix("2") })
                #expect(responses["400"] != nil)
            }
            for reference in Self.references(document) {
                #expect(reference.hasPrefix("#/components/schemas/"))
                #expect(document["components"]["schemas"][String(reference.dropFirst(21))] != .null, "\(reference)")
            }
        }
    }

    @Test func linksNameWhatIsThere() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            let operations = Self.operations(try await provider.api.get("/openapi.json").json)
            let names = Dictionary(operations.map { ($0.operation["operationId"], $0.path) }, uniquingKeysWith: { $1 })
            var linked: Set<JSONValue> = []
            for (path, method, operation) in operations {
                guard case .object(let responses) = operation["responses"] else { continue }
                for case .object(let links) in responses.values.map({ $0["links"] }) {
                    for link in links.values {
                        guard case .object(let parameters) = link["parameters"] else { continue }
                        let target = try #require(names[link["operationId"]], "\(method) \(path)")
                        #expect(parameters.keys.allSatisfy { target.contains("{\($0)}") }, "\(method) \(path)")
                        linked.insert(link["operationId"])
                    }
                }
            }
            // An operation whose path names something can be reached from one that makes or lists it.
            let unlinked = names.filter { $0.value.contains("{") && !linked.contains($0.key) }.keys
            #expect(unlinked.isEmpty)
        }
    }

    @Test func queriesHaveTheLengthsOfTheirSchemas() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            let app = "/v1/apps/\(Vectors.bundleID)"
            for (path, item) in [
                ("\(app)/catalogue", "account"), ("\(app)/devices", "user"), ("\(app)/notifications", "to"),
            ] {
                for value in ["", String(repeating: "x", count: 257)] {
                    let response = try await provider.api.get("\(path)?\(item)=\(value)")
                    #expect(response.status == 400, "\(path) \(item)")
                    #expect(response.json["error"]["field"].stringValue == item)
                }
            }
            for path in ["/v1/campaigns", "/v1/overview", "/v1/statistics"] {
                let document = try await provider.api.get("/openapi.json").json
                #expect(document["paths"][path]["get"]["responses"]["404"] != .null)
                #expect(try await provider.api.get("\(path)?app=com.example.Nobody").status == 404)
            }
        }
    }

    private static func references(_ value: JSONValue) -> [String] {
        switch value {
        case .object(let members):
            (members["$ref"]?.stringValue).map { [$0] } ?? members.values.flatMap(Self.references)
        case .array(let values): values.flatMap(Self.references)
        default: []
        }
    }
}
