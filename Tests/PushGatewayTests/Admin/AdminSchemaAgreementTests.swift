import Foundation
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushGateway

/// The schemas of the admin API's requests beside the parsers of these: both allow the same values.
@Suite struct AdminSchemaAgreementTests {
    private static let objects: [(name: String, object: RequestObject)] = [
        ("new app", AdminAppRequest.addition), ("app", AdminAppRequest.change), ("key", AdminKeyRequest.object),
        ("certificate", AdminCertificateRequest.object), ("channel", AdminChannelRequest.object),
        ("activation", AdminDeviceRequest.activation), ("reinstallation", AdminDeviceRequest.reinstallation),
        ("fault", FaultRule.object),
    ]

    @Test(arguments: Self.objects.indices) func theMembersHaveTheBoundsOfTheirSchemas(index: Int) throws {
        let (name, object) = Self.objects[index]
        #expect(try MemberBounds.differences(of: object.members, in: name) == [])
    }

    @Test(arguments: FaultRuleTests.texts) func theSchemaAllowsEveryFault(text: String) throws {
        #expect(SchemaCheck(FaultRule.object.schema).allows(try FaultRule(text: text).json))
    }

    @Test(arguments: [
        #"{"colour":"red"}"#, #"{"reason":"Nonsense"}"#, #"{"close":false}"#, #"{"close":true,"percent":101}"#,
        #"{"close":true,"door":"front"}"#, #"{"stall":"ever"}"#, #"{"close":true,"id":"a/b"}"#,
    ])
    func aFaultThatBothForbid(json: String) throws {
        #expect(!SchemaCheck(FaultRule.object.schema).allows(try JSONValue(parsing: Data(json.utf8))))
        #expect(throws: RequestError.self) {
            try FaultRule(JSONFields(parsing: Data(json.utf8), known: FaultRule.object.known))
        }
    }
}
