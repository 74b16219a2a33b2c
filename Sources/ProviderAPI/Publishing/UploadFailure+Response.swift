import Foundation
import HTTPTypes
import Hummingbird
import PushHTTP
import PushProvider
import PushSupport

extension UploadFailure {
    /// Returns the response to the request that failed.
    /// - Parameter consequence: What a full disk means for the file.
    func response(ifFull consequence: String) -> Response {
        switch self {
        case .missing: return .error(.noSuch("upload"))
        case .busy:
            let message = "another request sends bytes of this upload: wait until it has ended, then ask for the offset"
            return .error(.conflict("upload_in_progress", message), headers: [.retryAfter: "1"])
        case .wrongOffset(let present):
            let message = "the next byte has the position \(present): continue from there"
            return .error(
                .conflict("wrong_offset", message, at: "upload-offset"),
                headers: [UploadField.offset: "\(present)"]
            )
        case .wrongHash:
            let message = "the bytes have another SHA-256 than the upload was begun with: send all of them again"
            let error = RequestError(.invalid, code: "wrong_hash", message: message, path: "sha256")
            return .error(error, headers: [UploadField.offset: "0"])
        case .full(let reason):
            let message = "the disk of the provider is full (\(reason)): \(consequence)"
            let error = RequestError(.unavailable, code: "storage_full", message: message)
            return .error(error, headers: [.retryAfter: "60"])
        case .unwritable:
            let message = "the provider cannot write the file; its log has the cause"
            let error = RequestError(.unavailable, code: "storage_unavailable", message: message)
            return .error(error, headers: [.retryAfter: "5"])
        }
    }
}
