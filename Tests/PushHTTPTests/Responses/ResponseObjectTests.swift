import HTTPTypes
import Hummingbird
import PushHTTP
import PushSupport
import PushTesting
import Testing

/// Responses from lists of members.
@Suite struct ResponseObjectTests {
    private enum Colour: String, CaseIterable, JSONRepresentable {
        case red, green
    }

    private struct Thing: ResponseObject {
        var name: String
        var colours: [Colour] = []
        var size: Int?

        static let schemaName: String? = "Thing"
        static let members: [ResponseMember<Self>] = [
            .required("name", \.name, "The name."),
            .required("colours", \.colours),
            .optional("size", \.size, as: .integer(1...9)),
        ]
    }

    private static func json(_ value: some JSONRepresentable) throws -> String {
        String(decoding: try value.json.text, as: UTF8.self)
    }

    @Test func theResponseOmitsAbsentMembers() throws {
        #expect(try Self.json(Thing(name: "a", colours: [.green])) == #"{"colours":["green"],"name":"a"}"#)
        #expect(try Self.json(Thing(name: "a", size: 3)) == #"{"colours":[],"name":"a","size":3}"#)
    }

    @Test func theDocumentDescribesTheSameMembers() throws {
        let schema = OpenAPIDocument<Colour>(
            title: "Things",
            version: "1",
            operations: [
                .init(.get, "/things", id: "things", "All.") { _ in .noContent }
                    .responses(.ok(.page("things", of: Thing.schema)))
            ],
            tags: [],
            pathParameters: [:],
            scopeName: \.rawValue
        ).json["components"]["schemas"]["Thing"]
        #expect(schema["required"] == ["name", "colours"])
        #expect(schema["properties"]["name"] == ["type": "string", "description": "The name."])
        #expect(schema["properties"]["colours"]["items"]["enum"] == ["red", "green"])
        #expect(schema["properties"]["size"]["maximum"] == 9)
    }

    @Test func aPageIsAnObjectWithItsName() async throws {
        let router = InProcessRouter()
        router.add([
            .init(.get, "/page", id: "page", "A page.") { _ in try .page("apps", ["a", "b"], next: "c") },
            .init(.get, "/list", id: "list", "A list.") { _ in try .page("apps", [String]()) },
        ])
        #expect(try await router.respond(.get, "/page").json == ["apps": ["a", "b"], "next": "c"])
        #expect(try await router.respond(.get, "/list").json == ["apps": []])
    }

    @Test func aCallerWithinTheProcessTakesTheValue() throws {
        let (one, page, error) = (ResponseValue(), ResponseValue(), ResponseValue())
        _ = try ResponseValue.$current.withValue(one) { try Response.json(Thing(name: "a")) }
        #expect(one.value(as: Thing.self)?.name == "a")
        #expect(one.value(as: Colour.self) == nil)
        #expect(one.json == ["colours": [], "name": "a"])
        _ = try ResponseValue.$current.withValue(page) { try Response.page("things", [Thing(name: "a")], next: "b") }
        let things = page.value(as: ResponsePage<Thing>.self)
        #expect(things?.entries.map(\.name) == ["a"] && things?.next == "b")
        _ = ResponseValue.$current.withValue(error) { Response.error(.internalFailure) }
        #expect(error.value(as: RequestError.self) == .internalFailure)
    }
}
