import PushGateway
import Testing

@testable import martlet

/// Environment variables: names that no setting has, former names, and those of others.
@Suite struct SettingsEnvironmentTests {
    @Test(arguments: [
        ("MARTLET_SERVE_SANDBOXSERVICE", "did you mean MARTLET_SERVE_SANDBOX_SERVICE?"),
        ("MARTLET_SANDBOX_SERVICE", "did you mean MARTLET_SERVE_SANDBOX_SERVICE?"),
        ("MARTLET_GATEWAY_HTTP2_PORT", "did you mean MARTLET_GATEWAY_HTTP2PORT?"),
        ("MARTLET_API_KYE", "did you mean MARTLET_API_KEY?"), ("MARTLET_", "variable MARTLET_"),
        ("MARTLET_NOTHING_LIKE_THAT_AT_ALL", "variable MARTLET_NOTHING_LIKE_THAT_AT_ALL"),
    ])
    func anUnknownVariableEndsTheStart(variable: String, part: String) async throws {
        let error = await #expect(throws: SettingsError.self) {
            try await SettingsReader(environment: [variable: "secret value"])
        }
        #expect(error?.description.contains(part) == true, "\(String(describing: error))")
        #expect(error?.description.contains("secret value") == false && error?.status == .usage)
    }

    @Test func theVariablesOfOthersAreLeftAlone() async throws {
        let others = [
            "MARTLET_COMMIT": "1a2b3c", "MARTLET_SHARED_BUILD": "1", "MARTLET": "x", "MARTLETS_OTHER": "x", "PATH": "/",
            // What Kubernetes sets for services named martlet and martlet-gateway.
            "MARTLET_SERVICE_HOST": "10.0.0.1", "MARTLET_SERVICE_PORT": "80", "MARTLET_SERVICE_PORT_HTTP": "80",
            "MARTLET_PORT": "tcp://10.0.0.1:80", "MARTLET_PORT_80_TCP": "tcp://10.0.0.1:80",
            "MARTLET_GATEWAY_PORT_2197_TCP_ADDR": "10.0.0.1",
        ]
        let settings = try await SettingsReader(environment: others)
        try settings.check()
    }

    @Test func aFormerVariableStillWorksAndTheNewOneWins() async throws {
        let former = try await SettingsReader(environment: ["MARTLET_SEND_API_KEY": "mk_a"])
        #expect(former.string(APISettings.key) == "mk_a")
        let both = try await SettingsReader(environment: ["MARTLET_SEND_API_KEY": "mk_a", "MARTLET_API_KEY": "mk_b"])
        #expect(both.string(APISettings.key) == "mk_b")
        let warnings = SettingsEnvironment(["MARTLET_SEND_API_KEY": "mk_a"]).warnings
        #expect(warnings == ["the environment variable MARTLET_SEND_API_KEY is now MARTLET_API_KEY"])
    }

    @Test func faultsWithCommasAreSeparatedBySemicolons() async throws {
        let text = "reason=TooManyRequests,percent=20; latency=50ms"
        let settings = try await SettingsReader(environment: ["MARTLET_GATEWAY_FAULTS": text])
        let faults = GatewayRunCommand.configuration(settings).faults
        #expect(faults == ["reason=TooManyRequests,percent=20", "latency=50ms"])
        try settings.check()
    }
}
