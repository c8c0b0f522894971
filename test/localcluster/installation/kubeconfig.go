package installation

import (
	"context"
	"path/filepath"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/leasewarden/leasewarden/test/localcluster/localcluster"
)

// tokenValidity is longer than any local cluster is used for.
const tokenValidity = 7 * 24 * time.Hour

// writeKubeconfig writes a kubeconfig with the rights of a service account.
func writeKubeconfig(ctx context.Context, cluster *localcluster.Cluster, namespace, account string) (string, error) {
	config := cluster.Config()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return "", err
	}
	seconds := int64(tokenValidity.Seconds())
	token, err := client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, account, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds},
	}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	path := filepath.Join(cluster.Dir(), account+".kubeconfig")
	return path, clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"local": {Server: config.Host, CertificateAuthorityData: config.CAData}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{account: {Token: token.Status.Token}},
		Contexts:       map[string]*clientcmdapi.Context{"local": {Cluster: "local", AuthInfo: account}},
		CurrentContext: "local",
	}, path)
}
