import PushTesting
import PushTypes
import Testing

@testable import PushBridges

@Suite struct RegistrationCommandTests {
    private func read(
        _ node: String,
        _ fields: [String: String]?,
        action: String? = "execute",
        dialects: Set<RegistrationDialect> = [.p2, .tigase]
    ) -> RegistrationCommand.Reading {
        var command = XMLElement("command", namespace: ComponentNamespace.commands, attributes: ["node": node])
        command["action"] = action
        command.children = fields.map { [DataForm($0).element(type: "submit")] } ?? []
        return RegistrationCommand.read(command, dialects)
    }

    private static let token = DeviceToken(hex: Vectors.tokenA)

    /// Vector X7, as far as the form has to do with it.
    @Test func p2RegistersADeviceByItsID() throws {
        let token = try #require(Self.token)
        let reading = self.read(
            "register-push-apns",
            ["token": Vectors.tokenA, "device-id": "phone", "muc": "x"],
            action: nil
        )
        let command = RegistrationCommand(
            dialect: .p2,
            device: "phone",
            action: .register(token),
            node: "register-push-apns"
        )
        #expect(reading == .command(command))
        let completed = command.completed(["jid": "push.example.org", "node": "n", "secret": "s"])
        #expect(completed["status"] == "completed")
        let form = try #require(DataForm(completed.children.first))
        #expect(form.fields == ["jid": "push.example.org", "node": "n", "secret": "s"])
    }

    @Test func tigaseRegistersADeviceByItsToken() throws {
        let token = try #require(Self.token)
        let fields = ["provider": "tigase:messenger:apns:1", "device-token": Vectors.tokenA]
        let command = RegistrationCommand(
            dialect: .tigase,
            device: token.hex,
            action: .register(token),
            node: "register-device"
        )
        #expect(self.read("register-device", fields) == .command(command))
    }

    @Test func aDeviceUnregisters() throws {
        let p2 = RegistrationCommand(dialect: .p2, device: "phone", action: .unregister, node: "unregister-push-apns")
        #expect(self.read("unregister-push-apns", ["device-id": "phone"]) == .command(p2))
        let fields = ["provider": "tigase:messenger:apns:1", "device-token": Vectors.tokenA]
        let tigase = RegistrationCommand(
            dialect: .tigase,
            device: Vectors.tokenA,
            action: .unregister,
            node: "unregister-device"
        )
        #expect(self.read("unregister-device", fields) == .command(tigase))
    }

    @Test func withoutFieldsThereIsAForm() throws {
        guard case .answer(.result(let element?)) = self.read("register-push-apns", nil) else {
            Issue.record("no form")
            return
        }
        #expect(element["status"] == "executing")
        #expect(DataForm(element.children.first)?.fields.keys.sorted() == ["device-id", "token"])
    }

    @Test func aCommandIsCancelled() {
        guard case .answer(.result(let element?)) = self.read("register-device", nil, action: "cancel") else {
            Issue.record("not cancelled")
            return
        }
        #expect(element["status"] == "canceled")
    }

    @Test(arguments: [
        ["token": Vectors.tokenA], ["device-id": "phone"], ["token": "xyz", "device-id": "phone"],
        ["token": "aabb", "device-id": "p"],
        ["token": Vectors.tokenA, "device-id": ""], [:],
        ["token": Vectors.tokenA, "device-id": String(repeating: "x", count: 257)],
    ])
    func aFormThatLacksSomethingIsBad(fields: [String: String]) {
        #expect(self.read("register-push-apns", fields) == .answer(.error(.badRequest)))
    }

    @Test func otherCommandsAreNotFound() {
        #expect(self.read("register-push-fcm", [:]) == .answer(.error(.itemNotFound)))
        #expect(self.read("register-device", [:], dialects: [.p2]) == .answer(.error(.itemNotFound)))
        #expect(self.read("register-device", [:], action: "odd") == .answer(.error(.badRequest)))
        let other = ["provider": "tigase:messenger:fcm:1", "device-token": Vectors.tokenA]
        #expect(self.read("register-device", other) == .answer(.error(.badRequest)))
    }
}
