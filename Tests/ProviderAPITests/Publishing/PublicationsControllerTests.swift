import Foundation
import PushSupport
import PushTesting
import Testing

@testable import ProviderAPI

/// The publications of an app.
@Suite(.timeLimit(.patience)) struct PublicationsControllerTests {
    private static func change(_ fixture: PublishingFixture, _ body: JSONValue) async throws -> JSONClient.Response {
        try await fixture.api.call("PATCH", "/v1/publications/\(fixture.publication)", try body.text)
    }

    @Test func nullRemovesTheSteering() async throws {
        try await withPublishing { fixture in
            let limits: JSONValue = ["maximumDownloads": 5, "maximumBandwidth": 1000]
            let set = try await Self.change(fixture, ["waves": ["size": 7, "steering": limits]])
            #expect(set.status == 200 && set.json["waves"]["steering"] == limits)
            // An empty object changes nothing.
            let same = try await Self.change(fixture, ["waves": ["steering": [:]]])
            #expect(same.json["waves"]["steering"] == limits)
            let one = try await Self.change(fixture, ["waves": ["steering": ["maximumDownloads": .null]]])
            #expect(one.json["waves"]["steering"] == ["maximumBandwidth": 1000])
            let none = try await Self.change(fixture, ["waves": ["steering": .null]])
            #expect(none.status == 200 && none.json["waves"]["steering"] == .null && none.json["waves"]["size"] == 7)
        }
    }

    @Test func theSubscriptionsAreReplaced() async throws {
        try await withPublishing { fixture in
            let set = try await Self.change(fixture, ["subscriptionProducts": ["b", "a"]])
            #expect(set.json["subscriptionProducts"] == ["a", "b"])
            let none = try await Self.change(fixture, ["subscriptionProducts": []])
            #expect(none.json["subscriptionProducts"] == [])
            let spaced = try await Self.change(fixture, ["subscriptionProducts": ["a b"]])
            #expect(spaced.status == 400 && spaced.field == "subscriptionProducts")
        }
    }
}
