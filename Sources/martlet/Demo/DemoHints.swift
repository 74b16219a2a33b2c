import PushGateway
import PushSender

/// The commands that are printed to be tried while the demo runs.
struct DemoHints {
    let loop: DemoLoop
    /// A provider token that the gateway accepts for an hour.
    let providerToken: String

    var text: String {
        let (ports, app) = (self.loop.gatewayPorts, DemoLoop.bundleID)
        return """

            The demo keeps running; Ctrl-C ends it. In another terminal:

            # through the provider
            curl -s http://127.0.0.1:\(self.loop.providerPort)/v1/apps/\(app)/notifications \\
              -H 'authorization: Bearer \(self.loop.apiKey)' -H 'content-type: application/json' \\
              -d '{"to":{"user":"\(DemoLoop.user)"},"alert":{"title":"Hello again","body":"from curl"}}'

            # straight to the gateway, as any APNs client does
            curl --http2 --cacert \(self.loop.authorityFile) https://localhost:\(ports.main.http2)/3/device/\(self.loop.deviceToken) \\
              -H 'apns-topic: \(app)' -H 'apns-push-type: alert' \\
              -H 'authorization: bearer \(self.providerToken)' \\
              -d '{"aps":{"alert":"straight to the gateway"}}' -i

            # what the gateway did with it
            curl -s http://127.0.0.1:\(ports.admin)/v1/devices/\(self.loop.deviceID)/events

            """
    }
}
