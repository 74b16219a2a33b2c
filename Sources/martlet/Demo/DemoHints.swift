import PushGateway
import PushSender
import PushSupport

extension DemoLoop {
    /// Returns the commands that are printed to be tried while the demo runs, with a provider token that is valid now.
    /// - Parameter notification: The id of the first notification.
    func hints(notification: String) throws -> String {
        let (ports, app) = (self.gatewayPorts, Self.bundleID)
        var token = ProviderTokenSigner(
            key: try ProviderKey(teamID: Self.teamID, keyID: Self.keyID, pem: self.privateKey)
        )
        let providerToken = try token.text(now: SystemTime().now)
        return """

            The demo keeps running; Ctrl-C ends it. The phone takes commands here: list, open, dismiss, help …
            In another terminal:

            # through the provider
            curl -s http://127.0.0.1:\(self.providerPort)/v1/apps/\(app)/notifications \\
              -H 'authorization: Bearer \(self.apiKey)' -H 'content-type: application/json' \\
              -d '{"to":{"user":"\(Self.user)"},"alert":{"title":"Hello again","body":"from curl"}}'

            # straight to the gateway, as any APNs client does
            curl --http2 --cacert \(self.authorityFile) https://localhost:\(ports.main.http2)/3/device/\(self.deviceToken) \\
              -H 'apns-topic: \(app)' -H 'apns-push-type: alert' \\
              -H 'authorization: bearer \(providerToken)' \\
              -d '{"aps":{"alert":"straight to the gateway"}}' -i

            # another phone with the app
            martlet simulator --app \(app) --provider \(self.providerURL) --public-key \(self.publicKey) \\
              --gateway localhost:\(ports.main.deviceLink) --admin-url http://127.0.0.1:\(ports.admin)

            # what happened to the user's newest notifications, from the request to the screen
            martlet timeline --user \(Self.user) --app \(app) --server \(self.providerURL) --api-key \(self.apiKey)

            # the receipts of the first notification: delivered, shown, opened
            martlet notification export-receipts \(notification) --server \(self.providerURL) --api-key \(self.apiKey)

            # what the gateway did with it
            curl -s http://127.0.0.1:\(ports.admin)/v1/devices/\(self.deviceID)/events

            """
    }
}
