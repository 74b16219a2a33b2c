import AppSimulator
import Crypto
import Foundation
import MartletKit
import PushDevice
import PushGateway
import PushSupport
import PushTesting
import Synchronization
import Testing

/// An app that registers itself, on a simulated phone, against provider and gateway over real sockets.
@Suite("An app on a simulated phone", .timeLimit(.patience)) struct SimulatorTests {
    @Test("An app registers itself, and its user gets, sees and opens a notification")
    func shownAndOpened() async throws {
        try await withLoop { loop in
            try await loop.withPhone { phone in
                try await phone.run("wait registered", "login \(try await phone.proof(of: "alice"))", "wait registered")
                let answer = try await phone.send([
                    "alert": ["title": "Hello", "body": "World"], "badge": 3, "threadId": "t",
                    "data": ["class": "Order", "property": ["id": 42]],
                ])
                try await phone.run("wait shown")
                #expect(try await loop.provider.finished(answer)["counters"]["accepted"] == 1)
                let list = try await phone.list()
                let entry = try #require(list["notifications"].elements.first)
                #expect([entry["title"], entry["body"], entry["thread"]] == ["Hello", "World", "t"])
                #expect(list["badge"] == 3)
                try await phone.run("open", "wait opened", "wait screen")
                let screen = try #require(phone.events(.screen).first)
                #expect(screen.members["screen"] == "order" && screen.members["values"] == ["id": 42])
                #expect(try await phone.list()["notifications"] == [])
            }
        }
    }

    @Test("After the logout the user's pushes do not reach the phone")
    func logout() async throws {
        try await withLoop { loop in
            try await loop.withPhone { phone in
                try await phone.run("wait registered", "login \(try await phone.proof(of: "alice"))", "wait registered")
                try await phone.run("logout", "wait registered")
                let answer = try await phone.send(["alert": "for alice"])
                #expect(try await loop.provider.finished(answer)["recipients"] == 0)
                let all = try await phone.send(["alert": "for all"], to: ["all": true])
                try await phone.run("wait shown")
                #expect(try await loop.provider.finished(all)["counters"]["accepted"] == 1)
                #expect(try await phone.list()["notifications"].elements.map { $0["body"] } == ["for all"])
            }
        }
    }

    @Test("A reinstalled app is another installation with another token, and the old token is gone")
    func reinstall() async throws {
        try await withLoop { loop in
            try await loop.withPhone { phone in
                try await phone.run("wait registered")
                let before = try await phone.status()
                try await phone.run("reinstall", "wait registered")
                let after = try await phone.status()
                #expect(before["installation"] != after["installation"])
                #expect(before["deviceToken"] != after["deviceToken"])
                let old = try await phone.send(
                    ["alert": "x", "environment": "sandbox"],
                    to: ["tokens": [before["deviceToken"]]]
                )
                _ = try await loop.provider.finished(old)
                #expect(try await loop.provider.deliveries(old).first?["reason"] == "Unregistered")
                _ = try await phone.send(
                    ["alert": "new", "environment": "sandbox"],
                    to: ["tokens": [after["deviceToken"]]]
                )
                try await phone.run("wait shown")
            }
        }
    }

    @Test("A phone that is started again is the same one, with its notifications")
    func restart() async throws {
        try await withLoop { loop in
            try await withTemporaryDirectory { folder in
                let before = try await loop.withPhone(in: folder) { phone in
                    try await phone.run("wait registered")
                    _ = try await phone.send(["alert": "kept"], to: ["all": true])
                    try await phone.run("wait shown")
                    return try await phone.status()
                }
                try await loop.withPhone(in: folder) { phone in
                    try await phone.run("wait connected")
                    let after = try await phone.status()
                    #expect(after["installation"] == before["installation"])
                    #expect(after["deviceToken"] == before["deviceToken"])
                    try await phone.run("open 1")
                    #expect(phone.events(.opened).count == 1)
                }
            }
        }
    }

    @Test("A badge beyond what a phone shows is the largest one, for the app and its extension alike")
    func badge() async throws {
        try await withLoop { loop in
            try await loop.withPhone { phone in
                try await phone.run("badge 100001")
                #expect(try await phone.list()["badge"] == 99_999)
            }
        }
    }

    @Test("A user who allows no alerts sees none, and background pushes wake the app")
    func denied() async throws {
        try await withLoop { loop in
            try await loop.withPhone { phone in
                try await phone.run("wait registered", "deny alerts")
                let token = try await phone.status()["deviceToken"]
                _ = try await phone.send(
                    ["contentAvailable": true, "data": ["n": 1], "environment": "sandbox"],
                    to: ["tokens": [token]]
                )
                try await phone.run("wait woken")
                #expect(try await phone.list()["notifications"] == [])
            }
        }
    }

    @Test("A wait that times out, and a folder that is taken, say why")
    func errors() async throws {
        try await withLoop { loop in
            try await withTemporaryDirectory { folder in
                try await loop.withPhone(in: folder) { phone in
                    try await phone.run("wait registered")
                    let wait = await #expect(throws: WaitError.self) { try await phone.run("wait shown 2 1") }
                    #expect(wait?.description == "0 of 2 events 'shown' within 1 s")
                    let taken = #expect(throws: PhoneError.self) { _ = try PhoneFolder(folder) }
                    #expect(taken?.description == "the folder \(folder) cannot be used: another process has it")
                    await #expect(throws: PhoneError.self) { try await phone.run("open 7") }
                }
            }
        }
    }
}

/// A phone that is running, with what it has told.
struct SimulatedPhone: Sendable {
    let simulator: Simulator
    let loop: RunningLoop
    fileprivate let userSecret: String
    fileprivate let recorder: Recorder

    fileprivate final class Recorder: Sendable {
        let events = Mutex<[SimulatorEvent]>([])
    }

    /// The events of a name so far.
    func events(_ name: SimulatorEvent.Name) -> [SimulatorEvent] {
        self.recorder.events.withLock { $0.filter { $0.name == name } }
    }

    /// Carries out commands.
    func run(_ lines: String...) async throws {
        for line in lines {
            let command = try #require(try PhoneCommand(parsing: line))
            _ = try await self.simulator.perform(command.patient)
        }
    }

    func list() async throws -> PushSupport.JSONValue { try await self.simulator.perform(.list)?.json ?? .null }
    func status() async throws -> PushSupport.JSONValue { try await self.simulator.perform(.status)?.json ?? .null }

    /// Sends a notification, by default to the user alice.
    func send(_ content: [String: PushSupport.JSONValue], to: PushSupport.JSONValue = ["user": "alice"]) async throws
        -> JSONClient.Response
    {
        let answer = try await self.loop.provider.send(.object(content.merging(["to": to]) { $1 }))
        #expect(answer.status == 202, "\(answer.json)")
        return answer
    }

    /// Signs a proof of a user for the installation, as a back end does.
    func proof(of user: String) async throws -> String {
        func encode(_ data: Data) -> String {
            data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        }
        let end = Int64(Date().timeIntervalSince1970) + 600
        let claims: [String: PushSupport.JSONValue] = [
            "sub": .string(user), "exp": .integer(end), "installation": try await self.status()["installation"],
        ]
        let signed =
            "\(encode(Data(#"{"alg":"HS256"}"#.utf8))).\(encode(try PushSupport.JSONValue.object(claims).text))"
        let key = SymmetricKey(data: Data(self.userSecret.utf8))
        let code = HMAC<SHA256>.authenticationCode(for: Data(signed.utf8), using: key)
        return "\(signed).\(encode(Data(code)))"
    }
}

extension RunningLoop {
    /// Runs a phone with the vectors' app in a new folder for the duration of `body`.
    func withPhone<Value: Sendable>(
        _ body: @escaping @Sendable (SimulatedPhone) async throws -> Value
    ) async throws -> Value {
        try await withTemporaryDirectory { try await self.withPhone(in: $0, body) }
    }

    /// Runs a phone with the vectors' app for the duration of `body`.
    /// - Parameter transport: What carries the app's requests.
    func withPhone<Value: Sendable>(
        in directory: String,
        transport: any DownloadTransport = HTTPClientTransport(),
        _ body: @escaping @Sendable (SimulatedPhone) async throws -> Value
    ) async throws -> Value {
        let api = self.provider.api
        let key = try await api.post(
            "/v1/keys",
            ["name": "in-the-app", "scopes": ["registerSelf"], "apps": [.string(Vectors.bundleID)]]
        )
        let secret = try await api.call("POST", "/v1/apps/\(Vectors.bundleID)/user-secrets", nil)
        var device = DeviceConfiguration(port: self.gateway.addresses.main.deviceLink)
        device.bePatient()
        device.reconnectBase = .milliseconds(10)
        var configuration = SimulatorConfiguration(
            app: Vectors.bundleID,
            provider: try #require(URL(string: api.baseURL)),
            publicKey: try #require(key.json["key"].stringValue),
            device: device
        )
        configuration.transport = transport
        configuration.routes = Data(
            #"{"version":1,"fallback":"home","screens":[{"name":"home"},{"name":"order","class":"Order","parameters":[{"name":"id","type":"integer"}]}]}"#
                .utf8
        )
        let phone = try await self.phone(in: directory, configuration, secret.json["secret"].stringValue ?? "")
        return try await withServices([phone.simulator]) { try await body(phone) }
    }

    private func phone(
        in directory: String,
        _ configuration: SimulatorConfiguration,
        _ userSecret: String
    ) async throws -> SimulatedPhone {
        let file = URL(filePath: "\(directory)/device.json")
        let folder = try PhoneFolder(directory)
        var identity = (try? Data(contentsOf: file)).flatMap {
            try? JSONDecoder().decode(DeviceIdentity.self, from: $0)
        }
        if identity == nil { identity = try await self.activate() }
        let admin = self.gateway.admin
        let services = PhoneServices { identity in
            try JSONEncoder().encode(identity).write(to: file)
        } removeApp: { identity, topic in
            let path = "/v1/devices/\(identity.deviceID)/topics/\(topic)"
            let answer = try await admin.delete(path)
            #expect(answer.status < 300, "\(answer.json)")
        }
        let recorder = SimulatedPhone.Recorder()
        let simulator = try Simulator(
            configuration,
            folder: folder,
            identity: try #require(identity),
            services: services,
            logger: silentLogger
        ) { event in recorder.events.withLock { $0.append(event) } }
        return SimulatedPhone(simulator: simulator, loop: self, userSecret: userSecret, recorder: recorder)
    }
}
