import Foundation
import PushSender
import PushSupport
import PushTesting
import Testing

@testable import ProviderAPI

/// The publisher's registration form, over a real port.
@Suite(.timeLimit(.patience)) struct PublisherFormTests {
    static let fields = [
        ("devId", "6F9619FF-8B86-D011-B42D-00C04FC964FF"), ("token", Forms.token), ("accountId", Forms.account),
        ("badgeEnabled", "1"), ("soundEnabled", "0"), ("alertEnabled", "4"), ("newsstandEnabled", "8"),
        ("screen", "2048x1536"),
    ]

    static func check(_ provider: RunningProvider) async throws {
        let devices = try await provider.devices()
        #expect(devices.map { $0["token"].stringValue } == [Vectors.tokenA])
        #expect(devices.map { $0["environment"].stringValue } == ["production"])
        let export = try await provider.api.get("/v1/apps/\(Vectors.bundleID)/devices:export").json
        #expect(export["installation"] == "6F9619FF-8B86-D011-B42D-00C04FC964FF")
        #expect(export["capabilities"] == ["alert", "badge", "newsstand"])
        #expect(
            export["attributes"] == ["accountId": .string(Forms.account), "newsstand": true, "screenSize": "2048x1536"]
        )
    }

    @Test func multipartRegisters() async throws {
        try await Forms.withProvider { provider in
            let response = try await provider.post(
                "\(Forms.publisher)/\(Forms.key)/register",
                Forms.multipart(Self.fields),
                "multipart/form-data; boundary=--x1"
            )
            #expect(response.status == 200)
            #expect(response.text == "OK\n")
            try await Self.check(provider)
        }
    }

    @Test func anAllowedAccountRegistersWithoutTheKey() async throws {
        try await Forms.withProvider { provider in
            let response = try await provider.post("\(Forms.publisher)/register", Self.fields)
            #expect(response.status == 200)
            try await Self.check(provider)
        }
    }

    @Test func aQueryRegistersToo() async throws {
        try await Forms.withProvider { provider in
            var client = provider.api
            client.apiKey = nil
            // The plus sign of base64, not encoded, arrives as a space.
            let query = Self.fields.map { "\($0)=\($1)" }.joined(separator: "&")
            let response = try await client.get("\(Forms.publisher)/register?\(query)")
            #expect(response.status == 200)
            try await Self.check(provider)
        }
    }

    @Test func aChangedTokenReplacesTheOldOneAndOtherDataStays() async throws {
        try await Forms.withProvider { provider in
            _ = try await provider.post("\(Forms.publisher)/register", Self.fields)
            let change = [
                ("devid", "6F9619FF-8B86-D011-B42D-00C04FC964FF"), ("TOKEN", Vectors.tokenC),
                ("AccountID", Forms.account.lowercased()), ("newsstandEnabled", "0"),
            ]
            #expect(try await provider.post("\(Forms.publisher)/register", change).status == 200)
            let export = try await provider.api.get("/v1/apps/\(Vectors.bundleID)/devices:export").json
            #expect(export["token"] == .string(Vectors.tokenC))
            #expect(export["attributes"]["newsstand"] == false)
            #expect(export["attributes"]["screenSize"] == "2048x1536")
        }
    }

    @Test(arguments: [("sandbox", "sandbox"), ("Developer", "sandbox"), ("Distribution", "production")])
    func theEnvironmentMayStandInTheAddress(word: String, environment: String) async throws {
        try await Forms.withProvider { provider in
            let path = "\(Forms.publisher)/\(Forms.key)/register?environment=\(word)"
            let response = try await provider.post(path, [("token", Forms.token)])
            #expect(response.status == 200)
            #expect(try await provider.devices().first?["environment"].stringValue == environment)
        }
    }

    @Test(arguments: [
        (Forms.publisher + "/register", 403), (Forms.publisher + "/wrong-key-wrong-key/register", 403),
        ("/compat/publisher/com.example.Other/register", 403),
        ("/compat/publisher/com.example.Other/\(Forms.key)/register", 403),
        ("/compat/rails/\(Vectors.bundleID)/wrong/admin/apns_devices.json", 403),
    ])
    func aFormWithoutAccessIsRejected(path: String, status: Int) async throws {
        try await Forms.withProvider { provider in
            let response = try await provider.post(path, [("token", Forms.token), ("accountId", "other")])
            #expect(response.status == status)
            #expect(try await provider.devices().isEmpty)
        }
    }

    @Test(arguments: [
        ("application/x-www-form-urlencoded", "", 400), ("application/x-www-form-urlencoded", "token=!", 400),
        ("application/x-www-form-urlencoded", "token=aGVsbG8h&environment=mars", 400),
        ("multipart/form-data", "x", 400), ("multipart/form-data; boundary=b", "x", 400), ("text/xml", "<x/>", 415),
        ("application/x-www-form-urlencoded", "token=%00%ff", 400), ("application/json", "[", 400),
        ("application/x-www-form-urlencoded", String(repeating: "x", count: 70_000), 413),
    ])
    func anInvalidFormIsRejected(contentType: String, body: String, status: Int) async throws {
        try await Forms.withProvider { provider in
            for path in ["\(Forms.publisher)/\(Forms.key)/register", Forms.rails] {
                let response = try await provider.post(path, Data(body.utf8), contentType)
                #expect(response.status == status)
            }
            #expect(try await provider.devices().isEmpty)
        }
    }

    @Test(arguments: [
        ("application/x-www-form-urlencoded", "token=\(Vectors.tokenA)"),
        (
            "application/x-www-form-urlencoded",
            "apns_device%5Btoken%5D=%3C302bd38c+c16adf6c9383e8848b91d895afccb2a5a5"
                + "d1d52435f14c470aa71767%3E&commit=Save"
        ),
        ("application/json", #"{"token":"\#(Vectors.tokenA)"}"#),
        ("application/json; charset=utf-8", #"{"apns_device":{"token":"\#(Vectors.tokenA)"}}"#),
    ])
    func theWebApplicationsFormRegisters(contentType: String, body: String) async throws {
        try await Forms.withProvider { provider in
            let first = try await provider.post(Forms.rails, Data(body.utf8), contentType)
            #expect(first.status == 201)
            let device = try #require(try await provider.devices().first)
            #expect(device["token"] == .string(Vectors.tokenA))
            #expect(try JSONValue(parsing: Data(first.text.utf8)) == ["apns_device": ["id": device["id"]]])
            #expect(try await provider.post(Forms.rails, Data(body.utf8), contentType).status == 200)
        }
    }

    /// A form key gives no more of the server than an API key.
    @Test func formsHaveARate() async throws {
        // Nothing comes back while the clock stands still, however long the requests take.
        try await Forms.withProvider(time: ManualTime(), configure: { $0.limits.keyRate = 10 }) { provider in
            let path = "\(Forms.publisher)/\(Forms.key)/register"
            var refused: (status: Int, text: String)?
            while refused == nil {
                let response = try await provider.post(path, Self.fields)
                if response.status != 200 { refused = response }
            }
            #expect(refused?.status == 429)
            #expect(refused?.text.hasPrefix("too_many_requests: ") == true)
            #expect(try await provider.api.get("/v1/apps").status == 200)
        }
    }
}
