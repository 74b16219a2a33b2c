import NIOCore

/// The requests of a homeserver: each is about another event, for one pushkey after the other.
struct MatrixRequests: Sendable {
    let appID: String
    let pushkeys: [String]
    let run: String

    /// Returns the request with a number, as Synapse sends it for Element X.
    func request(_ number: Int) -> ByteBuffer {
        let body = """
            {"notification":{"counts":{"unread":2},"devices":[{"app_id":"\(self.appID)","data":{"default_payload":{"aps":\
            {"alert":{"loc-args":[],"loc-key":"Notification"},"mutable-content":1},"pusher_notification_client_identifier":\
            "c1"},"format":"event_id_only"},"pushkey":"\(self.pushkeys[number % self.pushkeys.count])","pushkey_ts":\
            1700000000}],"event_id":"$\(self.run)-\(number)-Kh53b8Y-jA3z5wq_UwEyMcGbqtOF","prio":"high",\
            "room_id":"!bSg6w7NAa_BRyIlkQdBph2l:example.org"}}
            """
        let head = """
            POST /_matrix/push/v1/notify HTTP/1.1\r
            Content-Length: \(body.utf8.count)\r
            User-Agent: Synapse/1.163.2\r
            Content-Type: application/json\r
            Accept: application/json\r
            Connection: Keep-Alive\r
            Host: 127.0.0.1\r
            \r

            """
        var buffer = ByteBuffer()
        buffer.reserveCapacity(head.utf8.count + body.utf8.count)
        buffer.writeString(head)
        buffer.writeString(body)
        return buffer
    }
}
