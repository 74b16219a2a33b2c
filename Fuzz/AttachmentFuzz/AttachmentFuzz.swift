import Foundation
import Fuzzing

@testable import MartletKit

/// Fuzzes URLs of attachments, members of payloads, and the responses of servers.
///
/// The first byte of an input selects one. Responses are lines `STATUS LENGTH TYPE` or `STATUS LENGTH LOCATION`, and after a
/// line `.` the body.
@main
enum AttachmentFuzz {
    static func main() {
        Fuzzer.run { input in
            let rest = Array(input.dropFirst())
            switch input.first.map({ $0 & 3 }) {
            case 0: Self.url(String(decoding: rest, as: UTF8.self))
            case 1: Self.member(Data(rest))
            case nil: break
            default: Self.responses(rest)
            }
        }
    }

    /// Checks that a URL that is taken leads to the host that stands in it, with TLS, and not to a local one.
    private static func url(_ text: String) {
        guard let taken = try? AttachmentURL(text) else { return }
        Self.check(taken.url)
        precondition(taken.url.absoluteString == text, "\(text) became \(taken.url)")
    }

    private static func check(_ url: URL) {
        precondition(url.scheme?.lowercased() == "https", "\(url)")
        precondition(url.user == nil && url.password == nil, "\(url) has a user")
        guard let host = url.host?.lowercased().trimmingCharacters(in: ["[", "]"]), !host.isEmpty else {
            preconditionFailure("\(url) has no host")
        }
        // A second parser sees the same host.
        let components = URLComponents(string: url.absoluteString)
        let other = components?.host?.lowercased().trimmingCharacters(in: ["[", "]"])
        precondition(other == host, "\(url): \(host), \(String(describing: other))")
        // The system's resolver takes more forms of addresses; whatever it takes must be global.
        var address = in_addr()
        if inet_aton(host, &address) != 0 {
            let bytes = withUnsafeBytes(of: address.s_addr) { Array($0) }
            let isPrivate =
                [0, 10, 127].contains(bytes[0]) || bytes[0] >= 224 || (bytes[0] == 192 && bytes[1] == 168)
                || (bytes[0] == 172 && bytes[1] & 0xf0 == 16) || (bytes[0] == 169 && bytes[1] == 254)
            precondition(!isPrivate, "\(url) is local")
        }
        precondition(host != "localhost" && host != "localhost." && host != "::1", "\(url) is local")
    }

    private static func member(_ text: Data) {
        guard let notification = ReceivedNotification(json: text), let member = notification.data["attachment"] else {
            return
        }
        guard let download = try? AttachmentDownload(member, policy: AttachmentPolicy()) else { return }
        Self.check(download.url.url)
    }

    /// Checks that nothing which a server says leads elsewhere than to https, or gets more than the policy allows.
    private static func responses(_ bytes: [UInt8]) {
        let policy = AttachmentPolicy(types: [.png, .jpeg, .mp3, .mp4], maximumSize: 64, maximumRedirects: 3)
        guard var download = try? AttachmentDownload("https://example.com/a", policy: policy) else {
            preconditionFailure("a good URL was refused")
        }
        var rest = bytes[...]
        var followed = 0
        var isReceiving = false
        while let end = rest.firstIndex(of: 0x0a) {
            let line = rest[..<end]
            rest = rest[(end + 1)...]
            if line.elementsEqual([UInt8(ascii: ".")]) { break }
            let fields = String(decoding: line, as: UTF8.self)
                .split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
            let status = fields.first.flatMap { Int($0) } ?? 200
            let length = fields.dropFirst().first.flatMap { Int64($0) }
            let value = fields.count == 3 ? String(fields[2]) : nil
            switch download.responded(status: status, length: length, header: { _ in value }) {
            case .receive:
                precondition(status == 200 && (length ?? 0) <= 64, "a body is taken after \(status)")
                isReceiving = true
            case .follow(let url):
                followed += 1
                precondition(!isReceiving && followed <= 3, "\(followed) redirects")
                Self.check(url)
            case .fail(let failure):
                precondition(download.failure == failure, "\(failure) is not kept")
                precondition((try? download.finished()) == nil, "a file after \(failure)")
            }
        }
        Self.body(rest, &download, isReceiving: isReceiving, policy)
    }

    private static func body(
        _ bytes: ArraySlice<UInt8>,
        _ download: inout AttachmentDownload,
        isReceiving: Bool,
        _ policy: AttachmentPolicy
    ) {
        var rest = bytes
        var written: [UInt8] = []
        while !rest.isEmpty {
            // The pieces depend on the bytes, so that all ways to cut are tried.
            let piece = rest.prefix(1 + Int(rest[rest.startIndex] & 15))
            rest = rest.dropFirst(piece.count)
            if download.received(Data(piece)) == .write { written += piece }
            precondition(written.count <= policy.maximumSize, "\(written.count) bytes")
        }
        guard let type = try? download.finished() else { return }
        precondition(isReceiving && written.elementsEqual(bytes), "a part of a file is taken for the whole")
        precondition(policy.types.contains(type) && type.matches(Array(written.prefix(12))), "\(type)")
    }
}
