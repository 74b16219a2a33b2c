import ArgumentParser
import PushSupport
import Testing

@testable import martlet

@Suite struct MartletCommandTests {
    @Test func deviceWithoutASubcommandIsTheDeviceSimulator() throws {
        let command = try MartletCommand.parseAsRoot(["device", "--topic", "com.example.MyApp", "--json"])
        let device = try #require(command as? DeviceRunCommand)
        #expect(device.flags.has(DeviceSettings.topics) && !device.flags.has(DeviceSettings.name) && device.json)
        #expect(try MartletCommand.parseAsRoot(["device", "list", "--app", "x"]) is ListResources<RegisteredDevice>)
    }

    @Test func theVersionIsTheReleaseAndPerhapsTheCommit() {
        #expect(MartletCommand.configuration.version.hasPrefix(MartletVersion.number))
    }
}
