import Foundation
import HTTPTypes
import ProviderModel
import PushProvider
import PushSupport
import PushTesting
import Testing

/// `/v1/people` with an API key.
@Suite(.timeLimit(.patience)) struct PeopleControllerTests {
    @Test func aPersonIsAddedInvitedChangedAndRemoved() async throws {
        try await withPeople { server in
            let added = try await server.api.post("/v1/people", ["name": " Anna ", "role": "author", "language": "de"])
            #expect(added.status == 201)
            #expect(added.json["name"] == "Anna" && added.json["hasPassword"] == false)
            #expect(added.json["link"].stringValue?.hasPrefix("/dashboard/link/") == true)
            let path = "/v1/people/\(added.json["id"].stringValue ?? "")"
            let shown = try await server.api.get(path)
            #expect(shown.status == 200 && shown.json["link"] == .null && shown.json["language"] == "de")
            let first = added.json["link"].stringValue?.split(separator: "/").last ?? ""
            let invited = try await server.api.post("\(path):invite", [:])
            let second = invited.json["link"].stringValue?.split(separator: "/").last ?? ""
            #expect(invited.status == 200 && first != second)
            await #expect(throws: RequestError.self) { try await server.redeem(String(first)) }
            _ = try await server.redeem(String(second))
            let sessions = try await server.api.get("\(path)/sessions").json["sessions"].elements
            #expect(sessions.compactMap { $0["agent"].stringValue } == ["browser"])
            #expect(sessions.allSatisfy { $0["current"] == false })
            #expect(try await server.api.delete("\(path)/sessions").status == 204)
            #expect(try await server.api.get("\(path)/sessions").json["sessions"].elements.isEmpty)
            let changed = try await server.patch(path, ["role": "operator", "language": .null, "disabled": true])
            #expect(changed.json["role"] == "operator" && changed.json["language"] == .null)
            #expect(changed.json["disabled"] == true)
            #expect(try await server.api.post("\(path):invite", [:]).code == "disabled")
            let listed = try await server.api.get("/v1/people?limit=1").json
            #expect(listed["people"].elements.count == 1)
            #expect(try await server.api.delete(path).status == 204)
            for response in [
                try await server.api.get(path), try await server.api.delete(path), try await server.patch(path, [:]),
                try await server.api.post("\(path):invite", [:]), try await server.api.get("\(path)/sessions"),
            ] { #expect(response.status == 404 && response.code == "no_such_person") }
        }
    }

    @Test(
        arguments: [
            ([:], "name"), (["name": "a"], "role"), (["name": "", "role": "admin"], "name"),
            (["name": "a", "role": "root"], "role"), (["name": "a\u{7}", "role": "admin"], "name"),
            (["name": 7, "role": "admin"], "name"), (["name": "a", "role": "admin", "apps": []], "apps"),
            (["name": "a", "role": "admin", "apps": ["com.example.Missing"]], "apps"),
            (["name": "a", "role": "admin", "language": "../x"], "language"),
            (["name": "a", "role": "admin", "language": ""], "language"),
            (["name": "a", "role": "admin", "disabled": true], "disabled"),
            (["name": "a", "role": "admin", "password": "x"], "password"),
            (["name": "a", "role": .null], "role"),
        ] as [(JSONValue, String)]
    )
    func whatIsNoPersonIsRefused(body: JSONValue, field: String) async throws {
        try await withPeople { server in
            let response = try await server.api.post("/v1/people", body)
            #expect(response.status == 400 && response.field == field, "\(body)")
            #expect(try await server.api.get("/v1/people").json["people"].elements.isEmpty)
        }
    }

    @Test func twoPeopleDoNotShareAName() async throws {
        try await withPeople { server in
            let body: JSONValue = ["name": "anna", "role": "viewer"]
            #expect(try await server.api.post("/v1/people", body).status == 201)
            let again = try await server.api.post("/v1/people", ["name": "ANNA", "role": "viewer"])
            #expect(again.status == 409 && again.code == "name_taken" && again.field == "name")
        }
    }

    @Test func thePeopleComeInPages() async throws {
        try await withPeople { server in
            let names = (0..<5).map { "person \($0)" }
            for name in names {
                try await server.api.post("/v1/people", ["name": .string(name), "role": "viewer"])
            }
            var (found, next): ([String], String?) = ([], nil)
            repeat {
                let query = next.map { "&cursor=\($0)" } ?? ""
                let page = try await server.api.get("/v1/people?limit=2\(query)").json
                found += page["people"].elements.compactMap { $0["name"].stringValue }
                next = page["next"].stringValue
            } while next != nil
            #expect(found == names)
        }
    }

    /// Two who remove each other's admin at the same time leave one.
    @Test func theLastAdminStays() async throws {
        try await withPeople { server in
            for round in 0..<5 {
                let anna = try await server.add("anna \(round)", .admin)
                let bert = try await server.add("bert \(round)", .admin)
                for person in try await server.api.get("/v1/people").json["people"].elements {
                    guard let id = person["id"].stringValue, id != anna.id, id != bert.id else { continue }
                    #expect(try await server.api.delete("/v1/people/\(id)").status == 204)
                }
                async let one = server.call(.delete, "/v1/people/\(bert.id)", as: anna.grant)
                async let two = server.call(.delete, "/v1/people/\(anna.id)", as: bert.grant)
                let responses = try await [one, two]
                #expect(responses.count { $0.status == 204 } == 1)
                #expect(responses.contains { [401, 409].contains($0.status) })
                let rest = try await server.api.get("/v1/people").json["people"].elements
                #expect(rest.count == 1)
                let id = rest.first?["id"].stringValue ?? ""
                for change in [["role": "viewer"], ["disabled": true], ["apps": ["a.b"]]] as [JSONValue] {
                    let response = try await server.patch("/v1/people/\(id)", change)
                    #expect(response.status == (change["apps"] == .null ? 409 : 400), "\(change)")
                }
                #expect(try await server.api.delete("/v1/people/\(id)").code == "last_admin")
            }
        }
    }
}

extension PeopleServer {
    func patch(_ path: String, _ body: JSONValue) async throws -> JSONClient.Response {
        try await self.api.call("PATCH", path, try body.text)
    }
}
