import HTTPTypes
import PushSupport
import PushTesting
import Testing

@testable import PushHTTP

/// The document of a small API.
@Suite struct OpenAPIDocumentTests {
    private enum Scope: String {
        case admin
    }

    private static let document = OpenAPIDocument<Scope>(
        title: "Things",
        version: "1",
        operations: [
            .init(.post, "/v1/{shelf}/things", .audited, id: "addThing", "Adds a thing.") { _ in .noContent }
                .tag(OperationTag("Things")).scope(.admin).parameters(.limit())
                .body(
                    .object(
                        required: [("name", .string())],
                        optional: [("note", .string()), ("kind", Schema.bool.neverNull)]
                    )
                    .named("Thing"),
                    isRequired: false
                )
                .responses(.created(.reference("Thing"))).errors(.conflict),
            .init(.get, "/v1/{shelf}/things/{thing}", id: "showThing", "Shows it.") { _ in .noContent }
                .responses(.ok(.bool)),
            .init(.get, "/health", id: "health", "Reports.") { _ in .noContent }.responses(.ok(.bool)),
        ],
        tags: [OperationTag("Things")],
        pathParameters: ["shelf": ("The shelf.", .uuid), "thing": ("The thing.", .uuid)],
        sources: [("thing", "addThing", "$response.body#/id")],
        scopeName: \.rawValue
    ).json

    @Test func propertiesOfAnOperationImplyItsErrors() {
        let add = Self.document["paths"]["/v1/{shelf}/things"]["post"]
        guard case .object(let responses) = add["responses"] else {
            Issue.record("there are no responses")
            return
        }
        #expect(responses.keys.sorted() == ["201", "400", "401", "403", "404", "405", "409", "413", "429", "503"])
        guard case .object(let open) = Self.document["paths"]["/health"]["get"]["responses"] else {
            Issue.record("there are no responses")
            return
        }
        #expect(open.keys.sorted() == ["200", "400", "405"])
    }

    @Test func scopesAndParametersAreDescribed() {
        let add = Self.document["paths"]["/v1/{shelf}/things"]["post"]
        #expect(add["security"] == [["key": []]])
        #expect(add["description"].stringValue?.contains("admin") == true)
        #expect(add["parameters"].elements.map { $0["name"] } == ["shelf", "limit"])
        #expect(add["parameters"].elements.map { $0["in"] } == ["path", "query"])
        #expect(Self.document["paths"]["/health"]["get"]["security"] == [])
    }

    @Test func answersLinkToTheOperationsThatFollow() {
        let add = Self.document["paths"]["/v1/{shelf}/things"]["post"]["responses"]
        #expect(
            add["201"]["links"]["showThing"] == [
                "operationId": "showThing",
                "parameters": ["shelf": "$request.path.shelf", "thing": "$response.body#/id"],
            ]
        )
        #expect(add["400"]["links"] == .null)
    }

    @Test func nullIsAnAbsentMemberOfARequest() {
        let add = Self.document["paths"]["/v1/{shelf}/things"]["post"]
        #expect(add["requestBody"]["required"] == false)
        let members = Self.document["components"]["schemas"]["Thing"]["properties"]
        #expect(members["name"]["type"] == "string")
        #expect(members["note"]["type"] == ["string", "null"])
        #expect(members["kind"]["type"] == "boolean")
        #expect(Schema.choice(["a"]).orNull.orNull.json["enum"] == ["a", .null])
        #expect(Schema.any(of: [.bool, .number]).orNull.orNull.json["anyOf"].elements.count == 3)
        #expect(Schema.reference("Thing").orNull.json["anyOf"].elements.count == 2)
    }

    @Test func namedSchemasAreComponents() {
        let schema = Self.document["paths"]["/v1/{shelf}/things"]["post"]["requestBody"]["content"]["application/json"]
        #expect(schema["schema"]["$ref"] == "#/components/schemas/Thing")
        #expect(Self.document["components"]["schemas"]["Thing"]["required"] == ["name"])
        #expect(Self.document["components"]["schemas"]["Error"] != .null)
    }
}
